/** Servers on which money writes are measured: one that flushes each commit to the disk, and one that does not. */
import pg from 'pg';
import { findServerBinaries, startScratchServer } from './scratch-server.ts';

export interface Durability {
  /** As the tables name it, e.g. `fsync on`. */
  name: string;
  serverUrl: string;
  /** Settings of each database of the measurement, as `ALTER DATABASE … SET` accepts them. */
  databaseSettings: Record<string, string>;
  stop(): Promise<void>;
}

/** One after the other, so that at most one scratch server runs. @param givenUrl the server of the run, used where no binaries are installed */
export async function* durabilities(givenUrl: string): AsyncGenerator<Durability> {
  const binaries = findServerBinaries();
  if (binaries === null) {
    const stop = async () => undefined;
    yield { name: `as the server is: ${await settingsOf(givenUrl)}`, serverUrl: givenUrl, databaseSettings: {}, stop };
    const databaseSettings = { synchronous_commit: 'off' };
    yield { name: 'synchronous_commit off', serverUrl: givenUrl, databaseSettings, stop };
    return;
  }
  for (const flushes of [true, false]) {
    const server = await startScratchServer(binaries, flushes);
    const name = flushes ? 'fsync on' : 'fsync off';
    yield { name, serverUrl: server.url, databaseSettings: {}, stop: () => server.stop() };
  }
}

async function settingsOf(url: string): Promise<string> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    const { rows } = await client.query<{ text: string }>(
      "SELECT string_agg(name || ' ' || setting, ', ' ORDER BY name) AS text FROM pg_settings WHERE name IN ('fsync', 'synchronous_commit')",
    );
    return rows[0]!.text;
  } finally {
    await client.end();
  }
}
