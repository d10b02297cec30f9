import { readFile } from 'node:fs/promises';
import { z } from 'zod';
import type { AuditDay } from '../domain/access/audit-chain.ts';
import { type AuditProblem, type AuditVerification, verifyAuditLog } from '../domain/access/verify-audit-log.ts';
import { alignColumns, type Command, CommandError, EXIT, UsageError, wholeNumber } from './command.ts';
import { withApp } from './open-service.ts';

const MAX_POSITION = 2_147_483_647;

const MEANINGS: Record<AuditProblem, string> = {
  missing_entry: 'an entry was removed',
  changed_entry: 'an entry was changed',
  changed_link: 'a hash was changed',
  missing_links: 'hashes were removed from here on',
  added_entry: 'an entry was added later',
  changed_day: 'the last hash of this day is another one now',
  missing_day: 'the chain does not have this day as it was kept',
  wrong_signature: 'the signature of this day is not that of its key',
};

/** A day as webhooks send it and as archives have it (`tables/audit_days.ndjson`). */
const KeptDay = z
  .object({
    day: z.string().regex(/^\d{4}-\d{2}-\d{2}/),
    position: z.coerce.number().int().min(1),
    hash: z.string().regex(/^[0-9a-f]{64}$/),
    public_key: z.string().nullish(),
    signature: z.string().nullish(),
    // Absent from what former releases have sent.
    closed_at: z.coerce.date().nullish(),
  })
  .transform(({ day, public_key: publicKey = null, signature = null, closed_at: closedAt = null, ...rest }) => ({
    ...{ ...rest, day: day.slice(0, 10), publicKey, signature, closedAt },
  }));

export const auditVerifyCommand: Command = {
  name: 'audit verify',
  parameters: '[--from POSITION] [--kept FILE]',
  summary: 'Prove that no entry of the audit log was changed or removed; exit code 1 when one was.',
  details: [
    '--from POSITION   checks the chain of hashes from this position on; without it, from the oldest entry',
    '--kept FILE       ends of days that were kept elsewhere, one JSON object a line: payloads of the webhook audit.day_closed, or the',
    '                  file tables/audit_days.ndjson of a backup; the chain must still have each of them',
  ].join('\n'),
  options: { from: { type: 'string' }, kept: { type: 'string' } },
  words: [0, 0],
  runsInService: true,
  async prepare({ options }) {
    if (typeof options.kept !== 'string') return options;
    const path = options.kept;
    const text = await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
      throw new CommandError(`${path} cannot be read: ${error.code}.`);
    });
    return { ...options, kept: text };
  },
  run: (call) => {
    const from = call.options.from === undefined ? null : wholeNumber(String(call.options.from), '--from', MAX_POSITION);
    const keptDays = typeof call.options.kept === 'string' ? readKeptDays(call.options.kept) : null;
    return withApp(call, async (app) => {
      const result = await verifyAuditLog(app, {
        ...(from === null ? {} : { from }),
        ...(keptDays ? { keptDays } : {}),
        onPage: (links) => call.progress(`${links} entries checked …`),
      });
      const isClean = result.findings.length === 0;
      const text = [...(isClean ? [] : findingLines(result)), ...factLines(result, keptDays)].join('\n');
      return { text, data: { ok: isClean, ...result }, ...(isClean ? {} : { exitCode: EXIT.failed }) };
    });
  },
};

function readKeptDays(text: string): AuditDay[] {
  const lines = text.split('\n').filter((line) => line.trim() !== '');
  if (lines.length === 0) throw new UsageError('--kept: the file has no line.');
  return lines.map((line, at) => {
    const day = KeptDay.safeParse(parsed(line));
    if (!day.success) throw new UsageError(`--kept: line ${at + 1} is not the end of a day.`);
    return day.data;
  });
}

function parsed(line: string): unknown {
  try {
    const value = JSON.parse(line) as { payload?: unknown };
    // The whole body of a delivery, or its payload.
    return value?.payload ?? value;
  } catch {
    return null;
  }
}

function findingLines({ findings, counts }: AuditVerification): string[] {
  const rows = findings.map(({ problem, position, entryId, day }) => [
    ...[problem, position === null ? '—' : String(position), entryId === null ? '—' : String(entryId), day ?? '—'],
    MEANINGS[problem],
  ]);
  const total = Object.values(counts).reduce((sum, count) => sum + count, 0);
  return [
    `The audit log is NOT intact: ${total} differences. The first one:`,
    '',
    alignColumns([['PROBLEM', 'POSITION', 'ENTRY', 'DAY', 'MEANING'], ...rows]),
    ...(total > rows.length ? [`… and ${total - rows.length} more.`] : []),
    '',
  ];
}

function factLines(result: AuditVerification, kept: readonly AuditDay[] | null): string[] {
  const { links, firstPosition, lastPosition, days, lastDay, signed, publicKey, waiting } = result;
  const range = firstPosition === null ? '' : `, positions ${firstPosition} to ${lastPosition}`;
  return [
    ...(result.findings.length === 0
      ? [`The audit log is intact (${links} entries${range}).`]
      : [`${links} entries${range} were checked.`]),
    days === 0
      ? 'No day has been closed yet.'
      : `${days} days, the last one ${lastDay}: ${signed.byPresentKey} signed by the present key, ${signed.byOtherKey} by others, ${signed.unsigned} not signed.`,
    `Public key: ${publicKey ?? 'none (AUDIT_SIGNING_KEY)'}. Entries not linked yet: ${waiting}.`,
    kept
      ? `${kept.length} days that were kept elsewhere were compared.`
      : 'Whoever can write to the database and has the key can make a new chain: --kept compares with what is kept elsewhere.',
  ];
}
