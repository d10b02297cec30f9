import { createInterface } from 'node:readline';
import { deviationOf } from '../domain/import/deviations.ts';
import { disablePanelLeftover, listPanelLeftovers, type PanelLeftover } from '../domain/import/panel-leftovers.ts';
import { listParked } from '../domain/import/report-import.ts';
import { isPanelError } from '../domain/provisioning/ports.ts';
import { alignColumns, type Command, type CommandCall, CommandError, EXIT, type Terminal, UsageError } from './command.ts';
import { withApp } from './open-service.ts';

/** `import panel-leftovers`: panel users of subscriptions that an import kept aside (spec 07 section 1.4). */
export const importLeftoversCommand: Command = {
  name: 'import panel-leftovers',
  parameters: '[--disable IDS]',
  summary: 'List the panel users of subscriptions that an import kept aside, which go on until their end, and switch some off.',
  details: [
    'A person has one subscription here; the panel users of the others are left as they are.',
    '',
    '--disable IDS    switch these off at the panel, after a question: ids of subscriptions as the list shows them, with commas',
  ].join('\n'),
  options: { disable: { type: 'string' } },
  words: [0, 0],
  run: (call) => {
    const ids = call.options.disable === undefined ? null : subscriptionIds(String(call.options.disable));
    return withApp(call, async (app) => {
      try {
        const leftovers = await listPanelLeftovers(app, ids);
        if (ids === null) return leftoversAnswer(leftovers, []);
        const unknown = ids.filter((id) => leftovers.every(({ subscriptionId }) => subscriptionId !== id));
        if (unknown.length > 0)
          throw new CommandError(`No panel user was left of the subscriptions ${unknown.join(', ')}. Nothing was changed.`);
        if (!(await isWanted(call, leftovers))) throw new CommandError('Nothing was changed.');
        const disabled: PanelLeftover[] = [];
        for (const leftover of leftovers) disabled.push(await disablePanelLeftover(app, leftover));
        return leftoversAnswer(disabled, ids);
      } catch (error) {
        if (!isPanelError(error)) throw error;
        throw new CommandError(`The panel cannot be asked: ${error.message}.`, { cause: error });
      }
    });
  },
};

function subscriptionIds(text: string): number[] {
  const words = text.split(',').map((word) => word.trim());
  if (words.some((word) => !/^[1-9]\d{0,8}$/.test(word)))
    throw new UsageError('--disable needs ids of subscriptions, for example 17,42.');
  return [...new Set(words.map(Number))];
}

function isWanted({ terminal }: CommandCall, leftovers: readonly PanelLeftover[]): Promise<boolean> {
  const lines = leftovers.map(({ subscriptionId, userId, endsAt }) => [
    ...['', `subscription ${subscriptionId}`, `user ${userId}`],
    `until ${endsAt.toISOString()}`,
  ]);
  terminal.err(`${alignColumns(lines)}\n`);
  return confirm(terminal, `These people lose this access at the panel. Switch ${leftovers.length} off?`);
}

/** Asks the person at the terminal; anything but the word `yes` is a no. From a pipe it reads the first line. */
async function confirm(terminal: Terminal, question: string): Promise<boolean> {
  terminal.err(`${question} (yes/no) `);
  const lines = createInterface({ input: terminal.input });
  try {
    for await (const line of lines) return line.trim().toLowerCase() === 'yes';
    return false;
  } finally {
    lines.close();
  }
}

function leftoversAnswer(leftovers: readonly PanelLeftover[], disabled: readonly number[]) {
  const rows = leftovers.map(({ subscriptionId, userId, endsAt, status }) => [
    ...['', String(subscriptionId), `user ${userId}`],
    ...[`until ${endsAt.toISOString()}`, status.toLowerCase()],
  ]);
  const heading =
    disabled.length > 0
      ? 'Switched off, by subscription:'
      : 'Panel users of subscriptions that were kept aside, by subscription:';
  const text = rows.length === 0 ? 'No panel user was left by an import.' : [heading, alignColumns(rows)].join('\n');
  const data = leftovers.map(({ subscriptionId, userId, uuid, endsAt, status }) => ({
    ...{ subscription_id: subscriptionId, user_id: userId, panel_uuid: uuid },
    ...{ ends_at: endsAt.toISOString(), status },
  }));
  return { text, data, exitCode: EXIT.ok };
}

/** `import unpark`: what was kept aside. No kind of it has a way into this release, which the answer says (spec 07 sections 2 and 4.2). */
export const importUnparkCommand: Command = {
  name: 'import unpark',
  parameters: '',
  summary: 'List what the last pass of an import has kept aside, by table and reason. This release can load none of it.',
  details: 'The rows stay in the table import_parked for a later release that has a place for them. Changes nothing.',
  words: [0, 0],
  run: (call) =>
    withApp(call, async (app) => {
      const kinds = await listParked(app);
      const lines = kinds.map(({ table, reason, isWhole, count, hasPlace }) => [
        ...['', table, `${count} ${isWhole ? 'rows' : 'values'}`, reason],
        hasPlace ? deviationOf(reason).text : 'This release has no place for the table.',
      ]);
      const text = ['Kept aside; this release can load none of it:', alignColumns(lines)].join('\n');
      const data = kinds.map(({ table, reason, isWhole, count, hasPlace }) => ({
        ...{ table, reason, whole: isWhole, count, has_place: hasPlace, can_be_loaded: false },
      }));
      return { text: kinds.length === 0 ? 'Nothing was kept aside.' : text, data };
    }),
};
