package lastmile;

import org.eclipse.jetty.compression.gzip.GzipCompression;
import org.eclipse.jetty.compression.gzip.GzipEncoderConfig;
import org.eclipse.jetty.compression.server.CompressionConfig;
import org.eclipse.jetty.compression.server.CompressionHandler;
import org.eclipse.jetty.ee11.servlet.ServletContextHandler;
import org.eclipse.jetty.ee11.servlet.ServletHolder;
import org.eclipse.jetty.server.Handler;
import org.eclipse.jetty.server.Server;
import org.eclipse.jetty.server.ServerConnector;

/** Serves files by a servlet in Jetty: its defaults where the contract (../README.md) says nothing. */
final class JettyServer {
    public static void main(String[] arguments) throws Exception {
        if (arguments.length == 1 && arguments[0].equals("--version")) {
            System.out.println("Jetty/" + Server.getVersion() + ", Java " + Runtime.version());
            return;
        }
        Inputs inputs = Inputs.fromEnvironment();
        Server server = new Server();
        ServerConnector connector = new ServerConnector(server);
        connector.setHost(inputs.host());
        connector.setPort(inputs.port());
        server.addConnector(connector);
        ServletContextHandler context = new ServletContextHandler("/");
        context.addServlet(new ServletHolder(new FileServlet(inputs)), "/*");
        server.setHandler(inputs.compresses() ? compressing(context, inputs) : context);
        server.start();
        System.out.println("READY");
        server.join();
    }

    private static Handler compressing(Handler handler, Inputs inputs) {
        GzipEncoderConfig encoder = new GzipEncoderConfig();
        encoder.setCompressionLevel(inputs.level());
        GzipCompression gzip = new GzipCompression();
        gzip.setDefaultEncoderConfig(encoder);
        gzip.setMinCompressSize(inputs.minimumSize());
        CompressionHandler compressing = new CompressionHandler(handler);
        compressing.putCompression(gzip);
        compressing.putConfiguration(
                "/*", CompressionConfig.builder().compressIncludeMimeType(inputs.mediaType()).build());
        return compressing;
    }
}
