import { formatPrice } from '../core/money.ts';
import { type readApproval, readApprovals, refuseByCommand } from '../domain/approvals/decide.ts';
import { alignColumns, type Command, UsageError, wholeNumber } from './command.ts';
import { OPERATOR, withApp } from './open-service.ts';

const MAX_ID = 2_147_483_647;
const MAX_LISTED = 500;

export const listApprovalsCommand: Command = {
  name: 'approvals list',
  parameters: '[--all] [--limit N]',
  summary: 'List changes of money that wait for a second administrator, the newest first.',
  details: [
    '--all            also those that were decided',
    '--limit N        1 to 500, default 50',
    '',
    'They are approved in the cabinet: a command does not show which person enters it.',
  ].join('\n'),
  options: { all: { type: 'boolean' }, limit: { type: 'string' } },
  words: [0, 0],
  runsInService: true,
  run: (call) => {
    const limit = call.options.limit === undefined ? 50 : wholeNumber(String(call.options.limit), '--limit', MAX_LISTED);
    const status = call.options.all ? null : 'waiting';
    return withApp(call, async (app) => {
      const { items, total } = await readApprovals(app, { status, kind: null, limit, offset: 0 });
      const rows = items.map(rowOf);
      const heads = ['ID', 'STATE', 'KIND', 'USER', 'AMOUNT', 'HELD', 'ASKED BY', 'SINCE', 'UNTIL'];
      const text = total === 0 ? 'Nothing waits.' : `${alignColumns([heads, ...rows])}\n\n${items.length} of ${total}.`;
      return { text, data: { total, approvals: items } };
    });
  },
};

function rowOf(approval: Awaited<ReturnType<typeof readApproval>>): string[] {
  const { id, status, kind, userId, amountKopeks, reservedKopeks, requestedBy, createdAt, expiresAt } = approval;
  return [
    ...[String(id), status, kind, String(userId ?? '–'), formatPrice(amountKopeks, false), formatPrice(reservedKopeks, false)],
    ...[requestedBy, createdAt.toISOString(), expiresAt?.toISOString() ?? '–'],
  ];
}

export const refuseApprovalCommand: Command = {
  name: 'approvals refuse',
  parameters: 'ID --reason TEXT',
  summary: 'Refuse a change of money that waits: what it holds goes back to the balance.',
  details: '--reason TEXT    for who asked and for the audit log; required',
  options: { reason: { type: 'string' } },
  words: [1, 1],
  runsInService: true,
  run: (call) => {
    const id = wholeNumber(call.words[0]!, 'ID', MAX_ID);
    const reason = String(call.options.reason ?? '').trim();
    if (reason === '' || reason.length > 500) throw new UsageError('--reason needs a text of at most 500 characters');
    return withApp(call, async (app) => {
      const refused = await refuseByCommand(app, OPERATOR.name, id, reason);
      return { text: `Approval ${id} is refused.`, data: refused };
    });
  },
};
