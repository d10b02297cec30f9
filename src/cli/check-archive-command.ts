import { stat } from 'node:fs/promises';
import { basename, resolve } from 'node:path';
import { migrationsFolder } from '../composition/package-root.ts';
import { readSchemaFiles } from '../core/db/schema-files.ts';
import { checkArchive } from '../domain/backups/check-archive.ts';
import { isEncryptedFile } from '../domain/backups/read-archive.ts';
import { ArchiveRefused } from '../domain/backups/types.ts';
import { askSecret } from './ask-secret.ts';
import { type Command, type CommandCall, CommandError } from './command.ts';
import { openBase } from './open-service.ts';

export const checkArchiveCommand: Command = {
  name: 'backup check',
  parameters: 'FILE',
  summary: 'Verify a backup from its first to its last byte; opens no database and writes nothing.',
  details: [
    'FILE is a path; the service may run meanwhile. Checked are the form, every checksum and number of rows, and whether this release has the',
    "archive's migrations. Foreign keys and the ledger are checked by a restore and by backup drill.",
    '',
    'An encrypted archive needs BACKUP_ARCHIVE_PASSWORD in the environment; otherwise the password is asked for.',
  ].join('\n'),
  words: [1, 1],
  run: async (call) => {
    const path = resolve(call.words[0]!);
    if (!(await stat(path).catch(() => null))?.isFile()) throw new CommandError(`There is no file ${path}.`);
    const encrypted = await isEncryptedFile(path);
    const password = encrypted ? await passwordOf(call) : null;
    const { migrations } = await readSchemaFiles(migrationsFolder);
    const installed = { migrations: migrations.map(({ name }) => name), tables: null };
    try {
      const { metadata } = await checkArchive(path, { password }, installed);
      const { totalRecords: records, tablesCount: tables, files, timestamp, appVersion: version } = metadata;
      const made = `made ${timestamp.toISOString()} by release ${version}`;
      return {
        text: `${basename(path)} is complete: ${records} records of ${tables} tables and ${files.length} files, ${made}.`,
        data: { file: path, records, tables, files: files.length, made_at: timestamp.toISOString(), version, encrypted },
      };
    } catch (error) {
      if (error instanceof ArchiveRefused) throw new CommandError(`It cannot be restored. ${error.message}.`, { cause: error });
      throw error;
    }
  },
};

async function passwordOf(call: CommandCall): Promise<string> {
  return openBase(call).env.raw.BACKUP_ARCHIVE_PASSWORD ?? (await askSecret(call.terminal, 'Password of the archive: '));
}
