import { connect, createServer } from 'node:net';
/** A way to a server that can be cut, or made to hang. */
export class TcpProxy {
    server;
    target;
    watch;
    #state = 'open';
    #pairs = new Set();
    constructor(server, target, watch) {
        this.server = server;
        this.target = target;
        this.watch = watch;
    }
    /** Leads to host and port of the URL. */
    static async start(url, watch = null) {
        const server = createServer();
        const proxy = new TcpProxy(server, new URL(url), watch);
        server.on('connection', (client) => proxy.#join(client));
        await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
        return proxy;
    }
    get port() {
        return this.server.address().port;
    }
    /** Breaks every connection, and those to come. */
    cut() {
        this.#state = 'cut';
        for (const pair of this.#pairs)
            for (const socket of pair)
                socket.destroy();
    }
    /** Keeps every connection and carries nothing any more. */
    freeze() {
        this.#state = 'frozen';
        for (const [client] of this.#pairs)
            client.unpipe();
    }
    mend() {
        this.#state = 'open';
    }
    async stop() {
        this.cut();
        await new Promise((resolve) => this.server.close(resolve));
    }
    #join(client) {
        client.on('error', () => { });
        if (this.#state === 'cut') {
            client.destroy();
            return;
        }
        const server = connect({ host: this.target.hostname, port: Number(this.target.port) });
        const pair = [client, server];
        this.#pairs.add(pair);
        server.on('error', () => { });
        for (const socket of pair) {
            socket.on('close', () => {
                this.#pairs.delete(pair);
                for (const other of pair)
                    other.destroy();
            });
        }
        if (this.watch) {
            client.on('data', (data) => this.watch('client', data));
            server.on('data', (data) => this.watch('server', data));
        }
        server.pipe(client);
        if (this.#state === 'open')
            client.pipe(server);
    }
}
//# sourceMappingURL=tcp-proxy.js.map