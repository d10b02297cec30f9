import { buffer } from 'node:stream/consumers';
import { beforeEach, describe, expect, test } from 'vitest';
import type { App } from '../../../src/core/app.ts';
import { readTar } from '../../../src/domain/backups/tar.ts';
import { advanceErasure, eraseNow } from '../../../src/domain/personal-data/erase-person.ts';
import { PERSONAL_TABLES } from '../../../src/domain/personal-data/person-tables.ts';
import { personArchive } from '../../../src/domain/personal-data/write-archive.ts';
import { fillPerson, findText, MARK, SECRET } from '../../support/filled-person.ts';
import { testApp } from '../../support/test-app.ts';
import { freshDatabase } from '../../support/test-database.ts';

const OPERATOR = { kind: 'system', name: 'command line' } as const;
const ALL = { forfeitsBalance: true, endsSubscription: true };

let app: App;
let person: Awaited<ReturnType<typeof fillPerson>>;
// Each test changes what the other one reads.
beforeEach(async () => {
  ({ app } = await testApp({ database: await freshDatabase() }));
  person = await fillPerson(app);
});

async function readArchive(userId: number): Promise<Map<string, string>> {
  const members = new Map<string, string>();
  for await (const { name, content } of readTar(personArchive(app, userId)))
    members.set(name, (await buffer(content)).toString());
  return members;
}

/** Columns that may keep what they had, by the list. */
function keptColumns(): Set<string> {
  const kept = PERSONAL_TABLES.flatMap(({ table, erasure }) =>
    erasure.by === 'kept' || erasure.by === 'reference' ? [table] : [],
  );
  return new Set(kept);
}

describe('a person with a row in every table', () => {
  test('has all of them in the archive, without secrets', async () => {
    const members = await readArchive(person.userId);
    const contents = JSON.parse(members.get('contents.json')!);
    const exported = PERSONAL_TABLES.filter((entry) => entry.exports !== undefined);
    for (const { table, name = table, exports } of exported) {
      if (name === 'referrals') continue;
      const line = members.get(`data/${name}-00001.ndjson`)?.split('\n')[0];
      expect(Object.keys(JSON.parse(line ?? '{}')), name).toEqual(exports!.split(' '));
      // With the account that was merged into it.
      expect(contents.rows[name], name).toBe(name === 'users' ? 2 : 1);
    }
    const all = [...members.values()].join('\n');
    expect(all).toContain(MARK);
    expect(all).not.toContain(SECRET);
  });

  test('is in no table after the erasure but in those that say so', async () => {
    const { id } = await eraseNow(app, OPERATOR, person.userId, ALL);
    await advanceErasure(app, id);
    const kept = keptColumns();
    const cleared = new Map(
      PERSONAL_TABLES.flatMap(({ table, erasure }) =>
        erasure.by === 'clear' ? [[table, Object.keys(erasure.set)] as const] : [],
      ),
    );
    const left = [...new Set([...(await findText(app, MARK)), ...(await findText(app, SECRET))])].filter((name) => {
      const [table, column] = name.split('.') as [string, string];
      // A counter by the kind of what was sold, which is no text of the person outside of this test.
      if (name === 'statistics_days.key') return false;
      return !kept.has(table) && (!cleared.has(table) || cleared.get(table)!.includes(column));
    });
    expect(left).toEqual([]);
    const [row] = await app.db.sql<{ state: string; remains: unknown }>(
      'SELECT state, remains FROM data_requests WHERE id = $1::int',
      [id],
    );
    expect(row).toEqual({ state: 'done', remains: null });
    expect(await findText(app, String(person.messengerId))).toEqual(['blacklist_entries.messenger_id']);
    // For some days a synchronisation must know that the panel user was removed.
    expect(await findText(app, person.panelUuid)).toEqual(['short_lived_entries.key']);
  });
});
