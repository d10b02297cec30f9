import pg from 'pg';

/** Runs statements one after another on a connection of their own, outside of any transaction: for those that allow none. */
export async function executeOnServer(url: string, ...statements: string[]): Promise<void> {
  const client = new pg.Client({
    connectionString: url,
    connectionTimeoutMillis: 5_000,
    application_name: 'subscription-service-drill',
  });
  await client.connect();
  try {
    for (const statement of statements) await client.query(statement);
  } finally {
    await client.end();
  }
}
