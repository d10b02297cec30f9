import { sqlTextsOf } from '../sql-in-source.ts';
import { EXEMPT_FOLDERS, moduleOfFile, ownersOf } from '../table-owners.ts';
import type { Model } from './prisma-schema.ts';
import { listFiles } from './source-files.ts';
import { clientWrites, namedTables, sqlWrites, type TableWrite } from './sql-writes.ts';
import type { TextValues } from './text-values.ts';

/** Name of a table that is known at run time only. */
const ANY_TABLE = '(any)';

export type NamedWrite = TableWrite & { table: string };

/** Every write in src with its table; one whose table is a parameter counts for every table that its file names. */
export function allWrites(root: string, values: TextValues, models: readonly Model[]): NamedWrite[] {
  const tables = new Set(models.flatMap(({ table }) => table ?? []));
  const files = listFiles(root, 'src').filter((path) => !EXEMPT_FOLDERS.some((folder) => path.startsWith(folder)));
  const writes = [
    ...sqlWrites(
      values,
      files.flatMap((path) => sqlTextsOf(values, path)),
    ),
    ...files.flatMap((path) => clientWrites(values, path, models)),
  ];
  return writes.flatMap((write): NamedWrite[] => {
    if (write.table !== null) return [{ ...write, table: write.table }];
    const named = namedTables(values, write.file, tables);
    const ownsAll = named.length > 0 && named.every((table) => isOwner(write.file, table));
    return ownsAll ? named.map((table) => ({ ...write, table })) : [{ ...write, table: ANY_TABLE }];
  });
}

/** Writes of a file outside of the module that owns the table. */
export function foreignWrites(writes: readonly NamedWrite[]): NamedWrite[] {
  return writes.filter(({ file, table }) => !isOwner(file, table));
}

/**
 * A restore writes the rows of every table as an archive has them, without a word of what they mean, in one transaction that verifies them
 * (spec 06 section 7). These files do, each for its part; the other files of the module own `backup_tasks` only.
 */
const RESTORES_TABLES: ReadonlySet<string> = new Set([
  // The statement that inserts rows of any table.
  'src/domain/backups/row-format.ts',
  // Empties the tables, and sets what the archive's rows cannot know: balances after a merge, positions in this server's log.
  'src/domain/backups/bulk-load.ts',
  'src/domain/backups/restore-rows.ts',
  // Its temporary table has the jobs of the archive until the end of the restore.
  'src/domain/backups/waiting-jobs.ts',
]);

function isOwner(file: string, table: string): boolean {
  if (RESTORES_TABLES.has(file)) return true;
  return ownersOf(table).includes(moduleOfFile(file));
}
