// Passes requests on with a token: `with_token.mjs URL TOKEN` prints the URL at which it listens. The conformance suite sends none.
import http from 'node:http';

const [target, token] = process.argv.slice(2);
const to = new URL(target);
const server = http.createServer((request, response) => {
  const own = `127.0.0.1:${server.address().port}`;
  const headers = { ...request.headers, authorization: `Bearer ${token}` };
  // What is addressed to this program is meant for the bridge; other names stay, so that the bridge can refuse them.
  if (headers.host === own) headers.host = to.host;
  if (headers.origin === `http://${own}`) headers.origin = `http://${to.host}`;
  const passed = http.request(
    { host: to.hostname, port: to.port, path: request.url, method: request.method, headers },
    (answer) => {
      response.writeHead(answer.statusCode, answer.headers);
      answer.pipe(response);
    },
  );
  passed.on('error', () => response.destroy());
  response.on('close', () => passed.destroy());
  request.pipe(passed);
});
server.listen(0, '127.0.0.1', () => console.log(`http://127.0.0.1:${server.address().port}${to.pathname}`));
