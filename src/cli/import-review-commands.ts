import { join } from 'node:path';
import { checkPanelLinks, type PanelLinkCheck } from '../domain/import/check-panel-links.ts';
import { exportSince, readSwitchOver } from '../domain/import/switch-over.ts';
import { recordImportSeen } from '../domain/provisioning/panel-user.ts';
import { isPanelError } from '../domain/provisioning/ports.ts';
import { alignColumns, type Command, CommandError, type CommandResult, EXIT, openNewFile } from './command.ts';
import { withApp } from './open-service.ts';

const SHOWN = 20;

/** `import check-panel`: whether the panel knows the imported users (spec 07 section 9). */
export const importCheckPanelCommand: Command = {
  name: 'import check-panel',
  parameters: '[--all] [--create-unknown]',
  summary: 'Look imported users up at the panel, reading only: whether it knows them, with the same link and end.',
  details: [
    'A sample of 200 live users, or all of them with --all. Exit code 1 when the service would not find their panel users.',
    '',
    '--create-unknown    the panel users are lost: the service creates them anew, though the panel knows nobody of the import',
  ].join('\n'),
  options: { all: { type: 'boolean' }, 'create-unknown': { type: 'boolean' } },
  words: [0, 0],
  run: (call) =>
    withApp(call, async (app) => {
      try {
        const check = await checkPanelLinks(app, call.options.all === true);
        if (call.options['create-unknown'] === true) await recordImportSeen(app);
        return panelAnswer(check);
      } catch (error) {
        if (!isPanelError(error)) throw error;
        throw new CommandError(`The panel cannot be asked: ${error.message}.`, { cause: error });
      }
    }),
};

function panelAnswer(check: PanelLinkCheck): CommandResult {
  const { panel, links, checked, unknown, differing, withoutLink, parked, isRight } = check;
  const named = (ids: readonly number[]) => (ids.length <= SHOWN ? ids.join(', ') : `${ids.slice(0, SHOWN).join(', ')} …`);
  const text = [
    `The panel addresses users by ${panel}; most links here are by ${links ?? 'nothing: there is none'}.`,
    `${checked} live users were looked up: ${unknown.length} are unknown to the panel, ${differing.length} differ.`,
    ...(unknown.length > 0 ? [`Unknown: users ${named(unknown)}`] : []),
    ...differing.slice(0, SHOWN).map(({ userId, what }) => `User ${userId}: ${what}`),
    `${withoutLink} live subscriptions have no link; the service looks them up after its start.`,
    `${parked} panel users of subscriptions that were kept aside go on until their end (import panel-leftovers).`,
    isRight ? 'The service can start.' : 'Do not start the service: it would create these people at the panel a second time.',
  ].join('\n');
  const data = {
    ...{ panel, links, checked, unknown, without_link: withoutLink, parked, right: isRight },
    differing: differing.map(({ userId, what }) => ({ user_id: userId, what })),
  };
  return { text, data, exitCode: isRight ? EXIT.ok : EXIT.failed };
}

/** `import export-since`: the way back (spec 07 section 9). */
export const importExportCommand: Command = {
  name: 'import export-since',
  parameters: 'FOLDER',
  summary: 'Write what happened since the start after an import as CSV: new users, payments, movements of money.',
  details:
    'Writes users.csv, payments.csv and movements.csv, which only their owner can read, into FOLDER, which must exist. For a way back to the old bot.',
  words: [1, 1],
  run: (call) =>
    withApp(call, async (app) => {
      const since = await readSwitchOver(app);
      if (since === null) throw new CommandError('The service was not started after an import.');
      const folder = call.words[0]!;
      const files = new Map<string, Awaited<ReturnType<typeof openNewFile>>>();
      try {
        const counts = await exportSince(app, since, async (list, csv) => {
          const file = files.get(list) ?? (await openNewFile(join(folder, `${list}.csv`)));
          files.set(list, file);
          await file.writeFile(csv);
        });
        const rows = Object.entries(counts).map(([list, count]) => ['', `${list}.csv`, `${count} rows`]);
        return {
          text: [`Since ${since.toISOString()}:`, alignColumns(rows)].join('\n'),
          data: { since: since.toISOString(), rows: counts },
        };
      } finally {
        for (const file of files.values()) await file.close();
      }
    }),
};
