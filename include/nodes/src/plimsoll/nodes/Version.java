package plimsoll.nodes;

import picocli.CommandLine.IVersionProvider;

/** The version of this build, from the jar's manifest. */
final class Version implements IVersionProvider {
    @Override
    public String[] getVersion() {
        String build = Version.class.getPackage().getImplementationVersion();
        return new String[] {"plimsoll.nodes " + (build == null ? "(not packed)" : build)};
    }
}
