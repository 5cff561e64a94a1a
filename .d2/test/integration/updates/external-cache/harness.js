import { spawn } from 'node:child_process';
import { createServer as createHttpServer } from 'node:http';
import { connect, createServer } from 'node:net';
import { fileURLToPath } from 'node:url';
const worker = fileURLToPath(new URL('../../../../workers/queue-consumption.js', import.meta.url));
export async function listen(server, port = 0) {
    await new Promise((resolve, reject) => {
        server.once('error', reject);
        server.listen(port, '127.0.0.1', resolve);
    });
    return server.address().port;
}
async function freePort() {
    const server = createServer();
    const port = await listen(server);
    await new Promise((resolve) => server.close(resolve));
    return port;
}
/** Waits until `ask` answers something that is `true` of `isIt`, and answers that; what was last seen is told when it never is. */
export async function eventually(ask, isIt, withinMs = 10_000) {
    const deadline = Date.now() + withinMs;
    for (;;) {
        const answer = await ask();
        if (isIt(answer))
            return answer;
        if (Date.now() > deadline)
            throw new Error(`still ${JSON.stringify(answer)} after ${withinMs} ms`);
        await new Promise((resolve) => setTimeout(resolve, 20));
    }
}
/** The real process, and what it says of itself. */
export class Worker {
    child;
    port;
    output = '';
    exited;
    constructor(child, port) {
        this.child = child;
        this.port = port;
        for (const stream of [child.stdout, child.stderr])
            stream.on('data', (text) => (this.output += text));
        this.exited = new Promise((resolve) => child.once('exit', resolve));
    }
    static async start(env) {
        const port = await freePort();
        const child = spawn(process.execPath, [worker], {
            env: { PATH: process.env.PATH, BIND_ADDRESS: '127.0.0.1', PORT: String(port), ...env },
            stdio: ['ignore', 'pipe', 'pipe'],
        });
        return new Worker(child, port);
    }
    /** Null while it does not listen. */
    async get(path) {
        const response = await fetch(`http://127.0.0.1:${this.port}${path}`).catch(() => null);
        return response && { status: response.status, body: await response.text() };
    }
    /** The facts of readiness that are promised. */
    async readiness() {
        const answer = await this.get('/readyz');
        if (answer === null)
            return null;
        const { status, consumers, redis } = JSON.parse(answer.body);
        return { http: answer.status, status, consumers, redis };
    }
    async stop() {
        this.child.kill('SIGTERM');
        return this.exited;
    }
}
/** A way to a server that can be cut: connections break, and new ones are refused until it is mended. */
export class Line {
    to;
    port;
    #sockets = new Set();
    #server;
    constructor(to, port) {
        this.to = to;
        this.port = port;
    }
    static async to(host, port) {
        const line = new Line({ host, port }, await freePort());
        await line.mend();
        return line;
    }
    async mend() {
        const server = createServer((socket) => {
            const target = connect(this.to);
            for (const [one, other] of [
                [socket, target],
                [target, socket],
            ]) {
                this.#sockets.add(one);
                one.on('error', () => other.destroy()).on('close', () => other.destroy());
                one.pipe(other);
            }
        });
        await listen(server, this.port);
        this.#server = server;
    }
    async cut() {
        const closed = new Promise((resolve) => this.#server?.close(resolve) ?? resolve(undefined));
        for (const socket of this.#sockets)
            socket.destroy();
        this.#sockets.clear();
        await closed;
    }
}
/** The platform's GraphQL door as far as the wire shows it. */
export async function fakeApi(port, answer) {
    const asked = [];
    const server = createHttpServer(async (request, response) => {
        let text = '';
        for await (const chunk of request)
            text += chunk;
        const { query, variables } = JSON.parse(text);
        asked.push({ key: request.headers['x-api-key'], query, variables });
        const { status = 200, body } = answer();
        response.writeHead(request.url === '/graphql' ? status : 404, { 'content-type': 'application/json' });
        response.end(typeof body === 'string' ? body : JSON.stringify(body));
    });
    return {
        url: `http://127.0.0.1:${await listen(server, port)}`,
        asked,
        close() {
            server.closeAllConnections();
            return new Promise((resolve) => server.close(resolve));
        },
    };
}
//# sourceMappingURL=harness.js.map