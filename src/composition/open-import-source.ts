import type { ImportSource } from '../domain/import/import-source.ts';
import { openArchiveSource } from '../integrations/import-sources/archive-source.ts';
import { openPostgresSource } from '../integrations/import-sources/postgres-source.ts';
import { openSqliteSource } from '../integrations/import-sources/sqlite-source.ts';

/**
 * Opens a database of the existing product by the form of its address (spec 07 section 1).
 * @param now of what a live database shows; an archive says itself when it was made
 * @param acceptsIncomplete a backup that leaves out tables is read, too
 * @returns null for an address of another form @throws ImportRefused
 */
export async function openImportSource(address: string, now: Date, acceptsIncomplete = false): Promise<ImportSource | null> {
  const url = address.replace(/^(postgres(?:ql)?)\+\w+:/i, '$1:');
  if (URL.canParse(url) && /^postgres(ql)?:$/.test(new URL(url).protocol)) return openPostgresSource(url, now);
  if (/\.(db|sqlite3?)$/i.test(address)) return openSqliteSource(address, now);
  if (/\.(tar|tar\.gz|tgz|zip|json|json\.gz)$/i.test(address)) return openArchiveSource(address, acceptsIncomplete);
  return null;
}
