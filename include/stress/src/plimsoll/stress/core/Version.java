package plimsoll.stress.core;

import picocli.CommandLine.IVersionProvider;

/** The version of this build, from the jar's manifest. */
public final class Version implements IVersionProvider {
    @Override
    public String[] getVersion() {
        String build = Version.class.getPackage().getImplementationVersion();
        return new String[] {"plimsoll.stress " + (build == null ? "(not packed)" : build)};
    }
}
