import { addMs, type Clock, confirmedNow, MINUTE_MS } from '../core/clock.ts';
import type { Database } from '../core/db/database.ts';
import type { EventBus } from '../core/events/event-bus.ts';
import type { Random } from '../core/random.ts';
import { addToStateSql, initState, readState } from '../core/service-state.ts';

export const SANDBOX_BOT_USERNAME = 'sandbox_bot';
export const SANDBOX_CALLBACK_PATH = '/sandbox-payment-webhook';
/** Key of the lease in `service_state`. */
export const SANDBOX_HOST_KEY = 'sandbox_host';

const CLOCK_MOVED = 'sandbox.moved';
const CLOCK_KEY = 'sandbox_clock';

/** Keys of the fake systems, made once for the installation. */
export interface SandboxSecrets {
  panelApiKey: string;
  botToken: string;
  webhookSecret: string;
  paymentSecret: string;
}

export async function sandboxSecrets(database: Database, random: Random): Promise<SandboxSecrets> {
  const text = (bytes: number) => random.bytes(bytes).toString('base64url');
  const fresh: SandboxSecrets = {
    panelApiKey: text(24),
    // The shape of a real bot token, so that everything that checks or hides one treats it alike.
    botToken: `1000001:${text(27).slice(0, 35)}`,
    webhookSecret: text(24),
    paymentSecret: text(24),
  };
  return initState(database.db, 'sandbox:secrets', fresh);
}

/** Service time of the sandbox: real time plus what the page has moved it forward, the same on every instance. */
export class SandboxClock implements Clock {
  readonly #database: Database;
  readonly #bus: Pick<EventBus, 'subscribe' | 'announce'>;
  readonly #real: Clock;
  #offsetMs = 0;
  #stop: (() => void) | null = null;

  constructor(database: Database, bus: Pick<EventBus, 'subscribe' | 'announce'>, real: Clock) {
    this.#database = database;
    this.#real = real;
    this.#bus = bus;
  }

  async start(): Promise<void> {
    this.#stop = this.#bus.subscribe(({ type }) => {
      if (type === CLOCK_MOVED) void this.#read().catch(() => undefined);
    });
    await this.#read();
  }

  stop(): void {
    this.#stop?.();
  }

  now(): Date {
    return addMs(this.#real.now(), this.#offsetMs);
  }

  async confirmed(): Promise<Date> {
    return addMs(await confirmedNow(this.#real), this.#offsetMs);
  }

  /** Service time in this process only, in the past too: while a new installation is filled and no other process runs on it. */
  setHere(time: Date): void {
    this.#offsetMs = time.getTime() - this.#real.now().getTime();
  }

  /** A text for the log about a moved clock; null when it is not ahead. */
  describe(): string | null {
    const minutes = Math.round(this.#offsetMs / MINUTE_MS);
    return minutes < 1 ? null : `the sandbox clock is ${minutes} minutes ahead`;
  }

  /**
   * Moves service time forward; waiting jobs start that much earlier.
   * @param ms above zero, whole minutes or more are usual
   */
  async advance(ms: number): Promise<void> {
    const step = Math.max(0, Math.round(ms));
    await this.#database.db.sql(
      `WITH moved AS (
         ${addToStateSql('$1', 'offsetMs', '$2::bigint')} RETURNING key),
       jobs AS (
         UPDATE jobs.job SET start_after = start_after - $2::bigint * interval '1 millisecond'
         WHERE state IN ('created', 'retry') AND start_after > now() RETURNING id)
       SELECT (SELECT count(*) FROM moved)::int AS moved, (SELECT count(*) FROM jobs)::int AS jobs,
         emit_event($3, '{}', 'instance', NULL, now()) AS event`,
      [CLOCK_KEY, step, CLOCK_MOVED],
    );
    this.#bus.announce();
    await this.#read();
  }

  async #read(): Promise<void> {
    this.#offsetMs = (await readState<{ offsetMs: number }>(this.#database.db, CLOCK_KEY))?.offsetMs ?? 0;
  }
}
