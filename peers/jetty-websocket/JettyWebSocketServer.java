package lastmile;

import org.eclipse.jetty.server.Server;
import org.eclipse.jetty.server.ServerConnector;
import org.eclipse.jetty.server.handler.ContextHandler;
import org.eclipse.jetty.websocket.api.Callback;
import org.eclipse.jetty.websocket.api.Session;
import java.nio.ByteBuffer;

/** Sends WebSocket messages back, by Jetty as it is configured. The contract is ../README.md's. */
final class JettyWebSocketServer {
    private static final long NO_LIMIT = -1;

    public static void main(String[] arguments) throws Exception {
        if (arguments.length == 1 && arguments[0].equals("--version")) {
            System.out.println("Jetty/" + Server.getVersion() + ", Java " + Runtime.version());
            return;
        }
        Server server = new Server();
        ServerConnector connector = new ServerConnector(server);
        connector.setHost(System.getenv("LASTMILE_HOST"));
        connector.setPort(Integer.parseInt(System.getenv("LASTMILE_PORT")));
        server.addConnector(connector);
        ContextHandler context = new ContextHandler("/");
        server.setHandler(context);
        // The configuration goes here.
        server.start();
        System.out.println("READY");
        server.join();
    }

    /** Sends each message back as it came. */
    public static final class Endpoint implements Session.Listener.AutoDemanding {
        private Session session;

        @Override
        public void onWebSocketOpen(Session opened) {
            session = opened;
            session.setMaxTextMessageSize(NO_LIMIT);
            session.setMaxBinaryMessageSize(NO_LIMIT);
        }

        @Override
        public void onWebSocketText(String message) {
            session.sendText(message, Callback.NOOP);
        }

        @Override
        public void onWebSocketBinary(ByteBuffer payload, Callback callback) {
            session.sendBinary(payload, callback);
        }
    }
}
