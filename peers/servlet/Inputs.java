package lastmile;

import java.nio.file.Path;

/** What the environment tells a server; ../README.md says what each is. */
record Inputs(String host, int port, Path state, Path data, String mediaType, int minimumSize, String compression) {
    static Inputs fromEnvironment() {
        return new Inputs(
                given("LASTMILE_HOST"),
                Integer.parseInt(given("LASTMILE_PORT")),
                Path.of(given("LASTMILE_STATE")),
                Path.of(given("LASTMILE_DATA")),
                given("LASTMILE_MEDIA_TYPE"),
                Integer.parseInt(given("LASTMILE_MINIMUM_SIZE")),
                given("LASTMILE_COMPRESSION"));
    }

    /** Whether anything is compressed. */
    boolean compresses() {
        return !compression.equals("identity");
    }

    /** The level of gzip, where anything is compressed. */
    int level() {
        return Integer.parseInt(compression.substring("gzip:".length()));
    }

    private static String given(String name) {
        String value = System.getenv(name);
        if (value == null) {
            throw new IllegalStateException(name + " is not in the environment; peers/README.md says what it is");
        }
        return value;
    }
}
