package lastmile;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.rmi.registry.LocateRegistry;
import java.rmi.registry.Registry;
import java.rmi.server.RMIServerSocketFactory;
import java.rmi.server.UnicastRemoteObject;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;

/**
 * A server and a client of the calls of {@link Transfer}.
 *
 * <p>{@code server} serves until SIGTERM, and reports what it received. {@code client} makes the calls of one operation, and reports each.
 * Values are read from plain text files, a field per line: the JDK has no JSON.
 */
public final class Calls {
    private Calls() {}

    private static String given(String name) {
        return System.getenv("LASTMILE_" + name);
    }

    private static List<String> linesOf(String name) throws IOException {
        return Files.readAllLines(Path.of(given("DATA"), name), StandardCharsets.UTF_8);
    }

    private static String[] text() throws IOException {
        return linesOf("text.txt").toArray(new String[0]);
    }

    /** Each entry: the number of authors, two lines for each, and a line for each other field. */
    private static Entry[] bibliography() throws IOException {
        List<Entry> entries = new ArrayList<>();
        Iterator<String> fields = linesOf("bibliography.txt").iterator();
        while (fields.hasNext()) {
            Entry entry = new Entry();
            entry.authors = new Name[Integer.parseInt(fields.next())];
            for (int author = 0; author < entry.authors.length; author++) {
                entry.authors[author] = new Name(fields.next(), fields.next());
            }
            entry.title = fields.next();
            entry.journal = fields.next();
            entry.year = Short.parseShort(fields.next());
            entry.publisher = fields.next();
            entry.location = fields.next();
            entry.edition = fields.next();
            entry.hyperlink = fields.next();
            entry.volume = Short.parseShort(fields.next());
            entry.issue = Short.parseShort(fields.next());
            entry.pages = new Pages(Short.parseShort(fields.next()), Short.parseShort(fields.next()));
            entries.add(entry);
        }
        return entries.toArray(new Entry[0]);
    }

    /** The object that is called. */
    private record Servant(Received received) implements Transfer {
        @Override
        public void putText(String[] lines) {
            received.text(lines);
        }

        @Override
        public void putBib(Entry[] entries) {
            received.bibliography(entries);
        }

        @Override
        public void tick(int id, short value) {
            received.tick(id, value);
        }

        @Override
        public void ping() {}

        @Override
        public String[] getText() {
            try {
                return text();
            } catch (IOException exception) {
                throw new IllegalStateException(exception);
            }
        }
    }

    /** Sockets of the given address alone. As two of them are equal, the registry and the object share a port. */
    private record Sockets(String host) implements RMIServerSocketFactory {
        @Override
        public ServerSocket createServerSocket(int port) throws IOException {
            return new ServerSocket(port, 50, InetAddress.getByName(host));
        }
    }

    private static void serve() throws Exception {
        String host = given("HOST");
        int port = Integer.parseInt(given("PORT"));
        System.setProperty("java.rmi.server.hostname", host);
        Sockets sockets = new Sockets(host);
        Received received = new Received();
        Runtime.getRuntime().addShutdownHook(new Thread(() -> {
            System.out.println(received.report("received"));
            System.out.flush();
        }));
        Registry registry = LocateRegistry.createRegistry(port, null, sockets);
        Servant servant = new Servant(received);
        // The port of a stub is found without calling it: the registry gets the object in this process.
        registry.rebind("t", UnicastRemoteObject.exportObject(servant, port, null, sockets));
        System.out.println("READY");
        System.out.flush();
        Thread.currentThread().join();
    }

    private static void report(long index, String operation, long start) {
        long duration = System.nanoTime() - start;
        System.out.printf(
            "{\"event\": \"call\", \"i\": %d, \"op\": \"%s\", \"start_ns\": %d, \"dur_ns\": %d, \"ok\": true}%n",
            index, operation, start, duration);
    }

    private static void call() throws Exception {
        String operation = given("OPERATION");
        long count = Long.parseLong(given("CALLS"));
        Registry registry = LocateRegistry.getRegistry(given("HOST"), Integer.parseInt(given("PORT")));
        Transfer transfer = (Transfer) registry.lookup("t");
        Received sent = new Received();
        System.out.printf("{\"event\": \"hello\", \"version\": \"%s\"}%n", Runtime.version());
        transfer.ping();
        String[] lines = text();
        Entry[] entries = bibliography();
        if (operation.equals("ticks")) {
            List<String> ticks = linesOf("ticks.txt");
            long start = System.nanoTime();
            for (String tick : ticks) {
                String[] fields = tick.split(" ");
                int id = Integer.parseInt(fields[0]);
                short value = Short.parseShort(fields[1]);
                transfer.tick(id, value);
                sent.tick(id, value);
            }
            report(0, operation, start);
        }
        for (long index = 0; !operation.equals("ticks") && index < count; index++) {
            long start = System.nanoTime();
            switch (operation) {
                case "text" -> transfer.putText(lines);
                case "bibliography" -> transfer.putBib(entries);
                default -> transfer.getText();
            }
            report(index, operation, start);
            if (operation.equals("text")) {
                sent.text(lines);
            } else if (operation.equals("bibliography")) {
                sent.bibliography(entries);
            }
        }
        System.out.println(sent.report("end"));
        System.out.flush();
        // RMI's threads would keep the program alive.
        Runtime.getRuntime().halt(0);
    }

    /** Runs the role that is named. */
    public static void main(String[] arguments) throws Exception {
        switch (arguments.length > 0 ? arguments[0] : "") {
            case "--version" -> System.out.println("Java RMI: " + Runtime.version());
            case "server" -> serve();
            case "client" -> call();
            default -> {
                System.err.println("use server, client or --version");
                System.exit(2);
            }
        }
    }
}
