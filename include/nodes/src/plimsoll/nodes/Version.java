package plimsoll.nodes;

import picocli.CommandLine.IVersionProvider;

/** Which build this is: what the jar's manifest says. */
final class Version implements IVersionProvider {
    @Override
    public String[] getVersion() {
        String build = Version.class.getPackage().getImplementationVersion();
        return new String[] {"plimsoll.nodes " + (build == null ? "(not packed)" : build)};
    }
}
