package plimsoll.stress.core;

import picocli.CommandLine.IVersionProvider;

/** Which build this is: what the jar's manifest says. */
public final class Version implements IVersionProvider {
    @Override
    public String[] getVersion() {
        String build = Version.class.getPackage().getImplementationVersion();
        return new String[] {"plimsoll.stress " + (build == null ? "(not packed)" : build)};
    }
}
