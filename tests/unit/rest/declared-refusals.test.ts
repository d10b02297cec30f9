/** Each refusal of the source is declared by an operation, or stands here with the reason. What operations throw is compared in all tests. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { DeclaredRefusal } from '../../../src/core/errors.ts';
import { buildServiceDocument } from '../../../src/rest/service-document.ts';

const source = join(import.meta.dirname, '..', '..', '..', 'src');
/** `refusal('role_not_found', 404, …` and the factories that are made of it. */
const FACTORY = /\b(?:refusal|translatedRefusal)(?:<[^>(]*>)?\(\s*'(?<code>\w+)',\s*(?<status>\d{3}),/g;

/** 500 is a fault of the service, which no operation declares. */
const FAILURE = '500';

const NOT_DECLARED: Readonly<Record<string, readonly string[]>> = {
  'commands of the operator only: refunds, cases, gifts, accounts': [
    ...['400 refund_unsupported', '400 refund_whole_only', '409 payment_not_credited', '409 refund_under_way'],
    '409 approval_waiting',
    ...['409 refund_too_large', '400 case_without_money', '400 comment_required', '400 invalid_amount', '409 case_resolved'],
    ...['409 case_credited', '409 case_refunding', '409 case_reversed', '404 case_not_found', '409 gift_not_a_gift'],
    ...['409 gift_refunded', '409 gift_returned', '409 gift_unpaid', '409 gift_claimed', '409 gift_no_buyer'],
    ...['409 gift_without_notice', '403 operator_only', '400 password_needed'],
  ],
  'two requests at the same time, one of which has just done what the other is about to do': [
    ...['410 sign_in_consumed', '409 messenger_just_linked', '409 provider_just_linked', '409 email_just_verified'],
  ],
  'guards against what the code around them excludes': [
    // No form of an operation has files of other names without a limit of its own.
    '413 body_too_large',
    // Every request of a socket has an address.
    '400 client_ip_unknown',
    // The user of a session or of a token that was just read.
    '400 promocode_user_not_found',
  ],
  'read by tests and the delivery itself': ['404 webhook_delivery_not_found'],
};

const nameOf = ({ status, code }: DeclaredRefusal) => `${status} ${code}`;

test('every refusal is declared by an operation, or has its reason here', () => {
  const { routes } = buildServiceDocument();
  const declared = new Set(routes.flatMap(({ meta }) => [...(meta.refuses ?? []), ...(meta.guardRefuses ?? [])].map(nameOf)));
  const files = readdirSync(source, { recursive: true, encoding: 'utf8' }).filter((path) => path.endsWith('.ts'));
  const made = new Set<string>();
  for (const path of files)
    for (const { groups } of readFileSync(join(source, path), 'utf8').matchAll(FACTORY))
      if (groups!.status !== FAILURE) made.add(`${groups!.status} ${groups!.code}`);
  expect(made.size).toBeGreaterThan(400);
  expect([...made.difference(declared)].sort()).toEqual(Object.values(NOT_DECLARED).flat().sort());
});
