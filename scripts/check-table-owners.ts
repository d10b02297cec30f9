/**
 * Every table has one owner module (scripts/table-owners.ts), and only the owner writes it: INSERT, UPDATE, DELETE and TRUNCATE in the
 * SQL of src, and writes of Prisma Client. Exceptions are listed in scripts/foreign-writes.json, which may only shrink.
 * Part of `npm run check:structure`. SQL functions and triggers (prisma/sql, migrations) are not looked at.
 *   --write    updates the list after a write or a file was moved; it refuses more foreign writes of a table
 *   --suggest  prints for each table which modules write it, and how often
 */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { allWrites, foreignWrites } from './checks/foreign-writes.ts';
import { readModels } from './checks/prisma-schema.ts';
import { compareWithList, countBy, type ShrinkingList } from './checks/shrinking-list.ts';
import { projectRoot } from './checks/source-files.ts';
import { TextValues } from './checks/text-values.ts';
import { moduleOfFile, ownersOf, TABLE_OWNERS, TABLES_WITHOUT_MODEL } from './table-owners.ts';

interface Exception {
  file: string;
  table: string;
  writes: number;
}

const listFile = join(projectRoot, 'scripts', 'foreign-writes.json');
const models = readModels(projectRoot);
const problems: string[] = [];

for (const { name, table, file } of models) {
  if (table === null) problems.push(`${file}: model ${name} has no @@map`);
  else if (ownersOf(table).length === 0) problems.push(`${file}: the table ${table} has no owner in scripts/table-owners.ts`);
}
const tables = new Set([...models.map(({ table }) => table), ...TABLES_WITHOUT_MODEL]);
for (const table of Object.keys(TABLE_OWNERS))
  if (!tables.has(table)) problems.push(`scripts/table-owners.ts: there is no table ${table}`);

const writes = allWrites(projectRoot, new TextValues(projectRoot), models);
const foreign = foreignWrites(writes);
const nameOf = ({ file, table }: { file: string; table: string }): string => `${file} ${table}`;
const found = countBy(foreign, nameOf);
const listed = readExceptions();

if (process.argv.includes('--suggest')) {
  for (const table of [...tables].filter((name) => name !== null).sort()) {
    const byModule = countBy(
      writes.filter((write) => write.table === table),
      ({ file }) => moduleOfFile(file),
    );
    const text = Object.entries(byModule).sort(([, one], [, other]) => other - one);
    console.log(
      `${table} (${ownersOf(table).join(', ')}): ${text.map(([module, count]) => `${module} ${count}`).join(', ') || '-'}`,
    );
  }
  process.exit(0);
}
if (process.argv.includes('--write')) {
  const tableOf = (name: string): string => name.split(' ')[1]!;
  for (const table of new Set(Object.keys(found).map(tableOf))) {
    const total = (list: ShrinkingList): number =>
      Object.entries(list).reduce((sum, [name, count]) => sum + (tableOf(name) === table ? count : 0), 0);
    if (existsSync(listFile) && total(found) > total(listed))
      problems.push(`${table}: ${total(found)} foreign writes, the list has ${total(listed)}; the list may only shrink`);
  }
  if (problems.length === 0) writeExceptions(found);
} else {
  const { added, gone } = compareWithList(found, listed);
  for (const name of added) {
    for (const { file, line, table } of foreign.filter((write) => nameOf(write) === name))
      problems.push(
        `${file}:${line}: module ${moduleOfFile(file)} writes ${table}, which belongs to ${ownersOf(table).join(' or ') || 'nobody'}`,
      );
  }
  for (const name of gone)
    problems.push(`scripts/foreign-writes.json: ${name} occurs ${found[name] ?? 0} times, not ${listed[name]}: take it out`);
}
if (problems.length > 0) {
  console.error(problems.join('\n'));
  console.error(
    `\n${problems.length} problems of table ownership (scripts/table-owners.ts). After moving a file or removing a foreign`,
  );
  console.error('write: node scripts/on-runtime.mjs scripts/check-table-owners.ts --write');
  process.exit(1);
}
console.log(`Table owners: ${writes.length} writes of ${tables.size} tables, ${foreign.length} of them foreign and listed.`);

function readExceptions(): ShrinkingList {
  if (!existsSync(listFile)) return {};
  const list = JSON.parse(readFileSync(listFile, 'utf8')) as Exception[];
  return Object.fromEntries(list.map((exception) => [nameOf(exception), exception.writes]));
}

function writeExceptions(list: ShrinkingList): void {
  const exceptions = Object.entries(list)
    .sort(([one], [other]) => (one < other ? -1 : 1))
    .map(([name, count]): Exception => ({ file: name.split(' ')[0]!, table: name.split(' ')[1]!, writes: count }));
  writeFileSync(listFile, `[\n${exceptions.map((exception) => `  ${JSON.stringify(exception)}`).join(',\n')}\n]\n`);
}
