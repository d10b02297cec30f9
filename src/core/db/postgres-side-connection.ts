import pg from 'pg';
import type { Logger } from '../log.ts';
import { serverClient } from './answer-limit.ts';
import { runOutsideTransaction } from './root-guard.ts';
import type { SideConnection } from './side-connection.ts';
import { unnamedSql } from './sql-runner.ts';

export interface SideConnectionOptions {
  url: string;
  connectMs: number;
  /** A statement that is not answered within this time ends the connection. */
  answerMs: number;
  log: Logger;
}

/** One PostgreSQL connection that is opened when it is needed and again after it was lost. */
export class PostgresSideConnection implements SideConnection {
  readonly #options: SideConnectionOptions;
  readonly #listeners = new Map<string, (payload: string) => void>();
  #client: pg.Client | null = null;
  #isClosed = false;
  /** Statements run one after another. */
  #last: Promise<unknown> = Promise.resolve();

  constructor(options: SideConnectionOptions) {
    this.#options = options;
  }

  readonly sql: SideConnection['sql'] = (text, values) => this.#inTurn((client) => unnamedSql(client)(text, values));

  async listen(channel: string, onNotice: (payload: string) => void): Promise<void> {
    this.#listeners.set(channel, onNotice);
    await this.#inTurn((client) => client.query(`LISTEN ${pg.escapeIdentifier(channel)}`));
  }

  async notify(channel: string, payload: string): Promise<void> {
    await this.sql('SELECT pg_catalog.pg_notify($1, $2)::text AS sent', [channel, payload]);
  }

  /** A statement that is under way is given up. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#client?.end();
    // One that was connecting has a client only now.
    await this.#last;
    await this.#client?.end();
  }

  #inTurn<T>(work: (client: pg.Client) => Promise<T>): Promise<T> {
    const running = this.#last.then(async () => {
      const client = await this.#connected();
      try {
        return await work(client);
      } catch (error) {
        // Whatever it was: a node that was demoted or hangs gives way to the next one.
        this.#drop(client);
        throw error;
      }
    });
    this.#last = running.catch(() => undefined);
    return running;
  }

  /** Called in turn only, so that one connection is opened at a time. */
  #connected(): Promise<pg.Client> {
    if (this.#isClosed) return Promise.reject(new Error('the database is closed'));
    return this.#client ? Promise.resolve(this.#client) : runOutsideTransaction(() => this.#open());
  }

  async #open(): Promise<pg.Client> {
    const { url, connectMs, answerMs } = this.#options;
    const client = serverClient({ url, name: 'subscription-service-beside', connectMs, answerMs });
    client.on('notification', ({ channel, payload }) => this.#listeners.get(channel)?.(payload ?? ''));
    client.on('error', (error) => {
      this.#options.log.warn({ err: error }, 'the database connection beside the pool was lost');
      this.#drop(client);
    });
    client.on('end', () => this.#drop(client));
    await client.connect();
    try {
      // A notice is a transaction of its own with nothing to lose; it does not wait for the disk.
      await client.query('SET synchronous_commit = off');
      for (const channel of this.#listeners.keys()) await client.query(`LISTEN ${pg.escapeIdentifier(channel)}`);
    } catch (error) {
      this.#drop(client);
      throw error;
    }
    this.#client = client;
    return client;
  }

  #drop(client: pg.Client): void {
    if (this.#client === client) this.#client = null;
    void client.end().catch(() => undefined);
  }
}
