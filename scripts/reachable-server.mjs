import { createConnection } from 'node:net';

/** Address of a PostgreSQL server that tests may use: TEST_DATABASE_URL, else 127.0.0.1:5432. @returns null where no connection is possible */
export async function reachableServer() {
  const url = process.env.TEST_DATABASE_URL ?? 'postgresql://postgres@127.0.0.1:5432/postgres';
  if (url === '') return null;
  const { hostname, port } = new URL(url);
  const reachable = await new Promise((resolve) => {
    const socket = createConnection({ host: hostname, port: Number(port || 5432), timeout: 20_000 });
    socket.on('connect', () => resolve(true));
    socket.on('timeout', () => resolve(false));
    socket.on('error', () => resolve(false));
    setTimeout(() => socket.destroy(), 25_000).unref();
  });
  if (!reachable) return null;
  const { default: pg } = await import('pg');
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 30_000 });
  try {
    await client.connect();
    await client.query('SELECT 1');
    return url;
  } catch (error) {
    console.log(`A server answers at ${hostname}:${port || 5432}, but not to this user: ${error.message}`);
    return null;
  } finally {
    await client.end().catch(() => undefined);
  }
}

/** Connections of a server that nobody uses. */
export async function freeConnections(url) {
  const { default: pg } = await import('pg');
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    const { rows } = await client.query(
      `SELECT current_setting('max_connections')::int - count(*)::int AS free FROM pg_stat_activity WHERE backend_type = 'client backend'`,
    );
    return rows[0].free;
  } finally {
    await client.end();
  }
}
