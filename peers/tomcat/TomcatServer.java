package lastmile;

import org.apache.catalina.Context;
import org.apache.catalina.connector.Connector;
import org.apache.catalina.startup.Tomcat;
import org.apache.catalina.util.ServerInfo;

/** Serves files by a servlet in Tomcat: its defaults where the contract (../README.md) says nothing. */
final class TomcatServer {
    public static void main(String[] arguments) throws Exception {
        if (arguments.length == 1 && arguments[0].equals("--version")) {
            System.out.println(ServerInfo.getServerInfo() + ", Java " + Runtime.version());
            return;
        }
        Inputs inputs = Inputs.fromEnvironment();
        Tomcat tomcat = new Tomcat();
        tomcat.setBaseDir(inputs.state().toString());
        tomcat.setConnector(connector(inputs));
        Context context = tomcat.addContext("", inputs.state().toString());
        Tomcat.addServlet(context, "files", new FileServlet(inputs));
        context.addServletMapping("/*", "files");
        tomcat.start();
        System.out.println("READY");
        tomcat.getServer().await();
    }

    private static Connector connector(Inputs inputs) {
        Connector connector = new Connector();
        // A port that is another's is to end this, rather than to be logged.
        connector.setThrowOnFailure(true);
        connector.setPort(inputs.port());
        connector.setProperty("address", inputs.host());
        connector.setProperty("maxKeepAliveRequests", "-1");
        // There is no level to set: it is zlib's default, 6.
        connector.setProperty("compression", inputs.compresses() ? "on" : "off");
        connector.setProperty("compressibleMimeType", inputs.mediaType());
        connector.setProperty("compressionMinSize", Integer.toString(inputs.minimumSize()));
        return connector;
    }
}
