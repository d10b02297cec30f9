import type { App } from '../../src/core/app.ts';
import type { BeginTransaction, PrismaDb, SqlRunner } from '../../src/core/db/db.ts';
import { sqlEventRecorder } from '../../src/core/events/event-recorder.ts';
import { sqlJobSender } from '../../src/core/jobs/job-sender.ts';

/** An app whose statements are recorded in the order in which they are sent: each entry is one round trip to the database. */
export interface RecordingApp {
  app: App;
  /** Texts of plain SQL, `BEGIN` and `COMMIT` of transactions, and the accessed names of Prisma, for example `prisma.user`. */
  sent: string[];
  /** How often the readers of events were notified. */
  announced: () => number;
}

/** @param app at the root, not of a transaction */
export function recordingApp(app: App): RecordingApp {
  const sent: string[] = [];
  let announcements = 0;
  const recorded =
    (sql: SqlRunner): SqlRunner =>
    (text, values) => {
      sent.push(text);
      return sql(text, values);
    };
  const recordedPrisma = <P extends PrismaDb>(prisma: P): P =>
    new Proxy(prisma, {
      get: (target, name) => {
        sent.push(`prisma.${String(name)}`);
        return Reflect.get(target, name);
      },
    });
  const begin: BeginTransaction = async (work) => {
    sent.push('BEGIN');
    const result = await app.db.begin!((tx, sql) => work(recordedPrisma(tx), recorded(sql)));
    sent.push('COMMIT');
    return result;
  };
  const sql = recorded(app.db.sql);
  const events = sqlEventRecorder(sql, app.clock, () => {
    announcements += 1;
  });
  return {
    app: {
      ...app,
      db: { ...app.db, prisma: recordedPrisma(app.db.prisma), sql, begin },
      jobs: sqlJobSender(sql, app.clock),
      events,
    },
    sent,
    announced: () => announcements,
  };
}
