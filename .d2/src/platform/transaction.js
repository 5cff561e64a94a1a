/** Runs `work` on one connection in one transaction; rolls back on any failure, and breaks with a connection that cannot. */
export async function inPoolTransaction(pool, work) {
    const client = await pool.connect();
    let broken;
    try {
        await client.query('BEGIN');
        const result = await work(client);
        await client.query('COMMIT');
        return result;
    }
    catch (error) {
        await client.query('ROLLBACK').catch((rollbackError) => {
            broken = rollbackError;
        });
        throw error;
    }
    finally {
        client.release(broken);
    }
}
/** Connection lost, server restarting, lost races, timeouts: the same work is expected to pass later. */
export function isTransient(error) {
    const code = String(error.code ?? '');
    if (/^(08|40|53|57)/.test(code) || code === '55P03')
        return true;
    if (/^(ECONNREFUSED|ECONNRESET|EPIPE|ETIMEDOUT|ENOTFOUND|EAI_AGAIN)$/.test(code))
        return true;
    return /^(Connection terminated|timeout exceeded when trying to connect|Client has encountered a connection error)/.test(error.message ?? '');
}
//# sourceMappingURL=transaction.js.map