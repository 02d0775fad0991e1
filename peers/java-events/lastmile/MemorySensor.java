package lastmile;

import java.rmi.RemoteException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;

/** Keeps events in memory, and pushes each to every subscriber by a call of its own. */
final class MemorySensor implements Sensor {
    private final List<Event> events = new ArrayList<>();
    private final List<BlockingQueue<Event>> subscribers = new ArrayList<>();

    @Override
    public synchronized void submit(Event event) {
        events.add(event);
        for (BlockingQueue<Event> subscriber : subscribers) {
            subscriber.add(event);
        }
    }

    @Override
    public synchronized void subscribe(Subscriber subscriber) {
        BlockingQueue<Event> waiting = new LinkedBlockingQueue<>();
        subscribers.add(waiting);
        // A thread for each: a slow subscriber delays neither the application nor the others.
        Thread pushing = new Thread(() -> push(subscriber, waiting));
        pushing.setDaemon(true);
        pushing.start();
    }

    private static void push(Subscriber subscriber, BlockingQueue<Event> waiting) {
        try {
            while (true) {
                subscriber.receive(waiting.take());
            }
        } catch (RemoteException | InterruptedException exception) {
            System.err.println("a subscriber is gone: " + exception);
        }
    }
}
