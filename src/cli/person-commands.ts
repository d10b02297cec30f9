import { inTransaction } from '../core/db/transaction.ts';
import { recordCommand } from '../domain/access/audit-log.ts';
import { advanceErasure, eraseNow } from '../domain/personal-data/erase-person.ts';
import { listBackupsBefore } from '../domain/personal-data/remaining-backups.ts';
import { requireRequest } from '../domain/personal-data/requests.ts';
import { personArchive } from '../domain/personal-data/write-archive.ts';
import {
  alignColumns,
  type Command,
  type CommandCall,
  fileOf,
  prepareTo,
  UsageError,
  wholeNumber,
  writeGzip,
} from './command.ts';
import { OPERATOR, withApp } from './open-service.ts';

const MAX_ID = 2_147_483_647;
const userOf = ({ options }: CommandCall) => wholeNumber(String(options.user ?? ''), '--user', MAX_ID);

export const personExportCommand: Command = {
  name: 'person export',
  parameters: '--user ID --to FILE',
  summary: 'Write an archive of everything that is stored about one user.',
  details: [
    '--user ID    internal id of the user',
    '--to FILE    a new file (.tar.gz), readable by its owner only; the archive has one NDJSON file for every 500 rows, and uploaded files',
    'Passwords, tokens and secrets are not in it, nor data of other people. Recorded in the audit log.',
  ].join('\n'),
  options: { user: { type: 'string' }, to: { type: 'string' } },
  words: [0, 0],
  runsInService: true,
  prepare: prepareTo,
  run: (call) => {
    const userId = userOf(call);
    const path = fileOf(call);
    return withApp(call, async (app) => {
      await writeGzip(path, personArchive(app, userId));
      await inTransaction(app, (t) =>
        recordCommand(t, OPERATOR.name, {
          ...{
            command: 'person export',
            permission: 'personal_data:export',
            resourceId: String(userId),
            before: null,
            after: null,
          },
        }),
      );
      return { text: `The archive of user ${userId} is ${path}.`, data: { user_id: userId, file: path } };
    });
  },
};

export const personEraseCommand: Command = {
  name: 'person erase',
  parameters: '--user ID --confirm [--forfeit-balance] [--end-subscription]',
  summary: 'Erase a user: identifiers, names, texts and files go; the books stay without them.',
  details: [
    '--user ID            internal id of the user',
    '--confirm            needed: it cannot be undone',
    '--forfeit-balance    the balance is written off; without it a user with a balance is refused',
    '--end-subscription   a running paid subscription ends; without it such a user is refused',
    'Pending withdrawals, payments, cases and undelivered purchases are settled first. Names the backups that still have the person.',
    'The panel user, files and copies go at once or, if the panel is away, by the running service until they are gone.',
  ].join('\n'),
  options: {
    ...{ user: { type: 'string' }, confirm: { type: 'boolean' } },
    ...{ 'forfeit-balance': { type: 'boolean' }, 'end-subscription': { type: 'boolean' } },
  },
  words: [0, 0],
  runsInService: true,
  run: (call) => {
    const userId = userOf(call);
    const { options } = call;
    if (options.confirm !== true) throw new UsageError('--confirm is needed: an erasure cannot be undone.');
    const confirmed = {
      forfeitsBalance: options['forfeit-balance'] === true,
      endsSubscription: options['end-subscription'] === true,
    };
    return withApp(call, async (app) => {
      const { id } = await eraseNow(app, OPERATOR, userId, confirmed);
      const failure = await advanceErasure(app, id).then(
        () => null,
        // Any failure: the account is erased; the job of the running service does the rest.
        (error: unknown) => (error instanceof Error ? error.message : String(error)),
      );
      const { state } = await requireRequest(app, id);
      const backups = await listBackupsBefore(app, app.clock.now());
      const rows = backups.map(({ name, deletedAt, furtherBackups }) => [
        name,
        deletedAt?.toISOString() ?? '—',
        String(furtherBackups),
      ]);
      const text = [
        `User ${userId} is erased (request ${id}, ${state}).`,
        ...(failure === null ? [] : [`What follows is repeated by the running service: ${failure}`]),
        ...(rows.length === 0
          ? ['No backup in the folder of the service has the person.']
          : ['These backups still have the person:']),
        ...(rows.length === 0 ? [] : [alignColumns([['BACKUP', 'DELETED', 'AFTER BACKUPS'], ...rows])]),
      ].join('\n');
      const kept = backups.map(({ name, deletedAt, furtherBackups }) => ({
        name,
        deleted_at: deletedAt,
        further_backups: furtherBackups,
      }));
      return { text, data: { user_id: userId, request_id: id, state, backups: kept } };
    });
  },
};
