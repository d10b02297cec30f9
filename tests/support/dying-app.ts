import type { App } from '../../src/core/app.ts';
import type { Db } from '../../src/core/db/db.ts';

/** The app whose first statement with `part` fails before or after it has its effect, as when the process or its session ends. */
export function dyingAt(app: App, part: RegExp, when: 'before' | 'after'): App {
  let died = false;
  const sql: Db['sql'] = async (text, values) => {
    const dies = !died && part.test(text);
    died ||= dies;
    if (dies && when === 'before') throw new Error('killed');
    const rows = await app.db.sql(text, values);
    if (dies) throw new Error('killed');
    return rows as never;
  };
  return { ...app, db: Object.assign(Object.create(app.db), { sql }) };
}
