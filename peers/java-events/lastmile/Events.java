package lastmile;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.rmi.registry.LocateRegistry;
import java.rmi.registry.Registry;
import java.rmi.server.RMIServerSocketFactory;
import java.rmi.server.UnicastRemoteObject;
import java.time.Instant;
import java.util.Random;

/**
 * A sensor that is called by Java RMI, and its clients: an application that submits events, and a subscriber that the sensor calls back.
 *
 * <p>A client does a run for each line of its input, until its end, and reports it.
 */
public final class Events {
    private static final String NAME = "sensor";

    private Events() {}

    private static String given(String name) {
        return System.getenv("LASTMILE_" + name);
    }

    private static void say(String line) {
        System.out.println(line);
        System.out.flush();
    }

    /** Nanoseconds of Unix time. */
    static long now() {
        Instant now = Instant.now();
        return now.getEpochSecond() * 1_000_000_000L + now.getNano();
    }

    /** Sockets of one address alone. As two of them are equal, the registry and the object share a port. */
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
        Registry registry = LocateRegistry.createRegistry(port, null, sockets);
        MemorySensor sensor = new MemorySensor();
        registry.rebind(NAME, UnicastRemoteObject.exportObject(sensor, port, null, sockets));
        say("READY");
        Thread.currentThread().join();
        // The registry has a stub alone: without a use after it the sensor could be collected.
        java.lang.ref.Reference.reachabilityFence(sensor);
    }

    /** This client's address on the way to the server, at which it is called back. */
    private static String ownAddress(String host, int port) throws IOException {
        try (Socket socket = new Socket(host, port)) {
            return socket.getLocalAddress().getHostAddress();
        }
    }

    private static void submit(Sensor sensor) throws Exception {
        int events = Integer.parseInt(given("EVENTS"));
        int least = Integer.parseInt(given("TEXT_BYTES"));
        long interval = Long.parseLong(given("INTERVAL_US")) * 1000;
        Random random = new Random();
        long create = 0;
        long send = 0;
        long start = System.nanoTime();
        for (int step = 0; step < events; step++) {
            long early = start + step * interval - System.nanoTime();
            if (interval > 0 && early > 0) {
                Thread.sleep(early / 1_000_000, (int) (early % 1_000_000));
            }
            long begun = System.nanoTime();
            String text = "Test event " + step;
            text += ".".repeat(Math.max(0, least - text.length()));
            Event event = new Event(now(), text, random.nextInt(1_000_001));
            long created = System.nanoTime();
            sensor.submit(event);
            create += created - begun;
            send += System.nanoTime() - created;
        }
        say(String.format(
            "{\"event\": \"run\", \"events\": %d, \"create_ns\": %d, \"send_ns\": %d, \"span_ns\": %d}",
            events, create, send, System.nanoTime() - start));
    }

    private static void converse() throws Exception {
        String host = given("HOST");
        int port = Integer.parseInt(given("PORT"));
        boolean subscribes = given("OPERATION").equals("subscribe");
        int events = Integer.parseInt(given("EVENTS"));
        long patience = Long.parseLong(given("TIMEOUT_SECONDS")) * 1000;
        say(String.format("{\"event\": \"hello\", \"version\": \"%s\"}", Runtime.version()));
        Sensor sensor = (Sensor) LocateRegistry.getRegistry(host, port).lookup(NAME);
        Arrivals arrivals = new Arrivals();
        if (subscribes) {
            String own = ownAddress(host, port);
            System.setProperty("java.rmi.server.hostname", own);
            sensor.subscribe((Subscriber) UnicastRemoteObject.exportObject(arrivals, 0, null, new Sockets(own)));
        }
        say("{\"event\": \"ready\"}");
        BufferedReader commands = new BufferedReader(new InputStreamReader(System.in));
        while (commands.readLine() != null) {
            if (subscribes) {
                arrivals.expect(events);
                say("{\"event\": \"receiving\"}");
                say(arrivals.await(patience));
            } else {
                submit(sensor);
            }
        }
        say("{\"event\": \"end\"}");
        // RMI's threads would keep the program alive.
        Runtime.getRuntime().halt(0);
    }

    /** Runs the role that is named. */
    public static void main(String[] arguments) throws Exception {
        switch (arguments.length > 0 ? arguments[0] : "") {
            case "--version" -> System.out.println("Java RMI: " + Runtime.version());
            case "server" -> serve();
            case "client" -> converse();
            default -> {
                System.err.println("use server, client or --version");
                System.exit(2);
            }
        }
    }
}
