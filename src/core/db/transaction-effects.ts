import { type Rows, TABLES } from '../../generated/rows.ts';
import type { Clock } from '../clock.ts';
import type { EmittedTo, EventRecorder } from '../events/event-recorder.ts';
import { delayOf, type JobSender, type JobTypes } from '../jobs/job-sender.ts';
import type { SqlRunner } from './db.ts';

/**
 * The events, jobs and mails of one transaction, and rows that nothing reads before its end. They are collected and written in the order in
 * which they were sent, by one statement before the commit: a use case sends them where it is clearest, and none costs a round trip to the
 * database.
 */
export interface TransactionEffects {
  readonly jobs: JobSender;
  /** Queues of jobs that may start as soon as the transaction is committed. */
  readonly queues: ReadonlySet<keyof JobTypes>;
  readonly events: EventRecorder;
  /** Queues a mail, see `queue_mail()` in prisma/sql/mails.sql. */
  addMail(mail: QueuedMail): void;
  /** Adds a row, with every column but its id, to one of the tables that `record_effects()` in prisma/sql/effects.sql lists. */
  addRow<M extends AddedModel>(model: M, row: Omit<Rows[M], 'id'>): void;
  /** Writes what is waiting. Before SQL that records events itself, so that these stay behind the ones that were sent before. */
  write(): Promise<void>;
  /** What is waiting, as the JSON for `record_effects()`: for a statement that writes it together with rows. Nothing waits afterwards. */
  take(): string;
}

/** The tables of `addRow`. */
type AddedModel = 'WheelSpin';

/** A rendered mail; its template only says what kind of mail it is. */
interface QueuedMail {
  recipient: string;
  template: string;
  subject: string;
  html: string;
  text: string;
}

/** @param sql of the transaction */
export function collectEffects(sql: SqlRunner, clock: Clock): TransactionEffects {
  // As JSON from the start: what a caller does with a payload afterwards does not matter.
  let waiting: string[] = [];
  const queues = new Set<keyof JobTypes>();
  const take = (): string => {
    const taken = `[${waiting.join(',')}]`;
    waiting = [];
    return taken;
  };
  return {
    queues,
    jobs: {
      trace: () => ({}),
      wake: (named) => {
        for (const queue of named) queues.add(queue);
      },
      send: async (queue, data, options = {}) => {
        if (options.startAfter === undefined) queues.add(queue);
        const { singletonKey: key = null } = options;
        waiting.push(JSON.stringify({ queue, data, key, delay_ms: delayOf(options, clock) }));
      },
    },
    events: {
      emit: async (event: string, payload: unknown, { audience, userId }: EmittedTo) => {
        waiting.push(JSON.stringify({ event, payload, audience, user_id: userId ?? null, now: clock.now() }));
      },
      // `inTransaction` does it after the commit.
      announce: () => undefined,
    },
    addMail: (mail) => {
      queues.add('mail.send');
      waiting.push(JSON.stringify({ mail, now: clock.now() }));
    },
    addRow: (model, row) => {
      const { table, columns } = TABLES[model];
      const named = Object.entries(columns).map(([field, column]) => [column, (row as Record<string, unknown>)[field]]);
      waiting.push(JSON.stringify({ table, row: Object.fromEntries(named) }));
    },
    write: async () => {
      if (waiting.length > 0) await sql('SELECT record_effects($1::jsonb) AS recorded', [take()]);
    },
    take,
  };
}
