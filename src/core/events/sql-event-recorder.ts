import type { Clock } from '../clock.ts';
import type { SqlRunner } from '../db/db.ts';
import type { EmittedTo, EventRecorder } from './event-recorder.ts';

/**
 * Records events outside of a transaction through the SQL function `emit_event` (prisma/sql/events.sql); those of a transaction are
 * recorded by `TransactionEffects`. An event is committed when the function returns, and is announced then.
 */
export function sqlEventRecorder(sql: SqlRunner, clock: Clock, announce: () => void): EventRecorder {
  return {
    emit: async (type: string, payload: unknown, options: EmittedTo) => {
      await sql('SELECT emit_event($1, $2::jsonb, $3, $4::int, $5::timestamptz) AS id', [
        type,
        JSON.stringify(payload),
        options.audience,
        options.userId ?? null,
        clock.now(),
      ]);
      announce();
    },
    announce,
  };
}
