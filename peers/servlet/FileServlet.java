package lastmile;

import jakarta.servlet.http.HttpServlet;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * Answers with the bytes of a file, as an application answers with what it has made: in one piece, of a length that it knows, and
 * without an entity tag, since Tomcat does not compress what has a strong one.
 */
final class FileServlet extends HttpServlet {
    private static final long serialVersionUID = 1L;

    private final transient Inputs inputs;

    FileServlet(Inputs inputs) {
        this.inputs = inputs;
    }

    @Override
    protected void doGet(HttpServletRequest request, HttpServletResponse response) throws IOException {
        Path file = inputs.data().resolve(request.getPathInfo().substring(1)).normalize();
        if (!file.startsWith(inputs.data()) || !Files.isRegularFile(file)) {
            response.sendError(HttpServletResponse.SC_NOT_FOUND);
            return;
        }
        byte[] body = Files.readAllBytes(file);
        response.setContentType(inputs.mediaType());
        response.setContentLength(body.length);
        response.getOutputStream().write(body);
    }
}
