import { z } from 'zod';
import { approverDependent, approverRightsTooNew } from '../../domain/access/independent-approver.ts';
import {
  approvalDecided,
  approvalExpired,
  approvalImpossible,
  approvalNotFound,
  approvalOfOthers,
  approvalOfRequester,
  approve,
  readApproval,
  readApprovals,
  refuse,
  withdraw,
} from '../../domain/approvals/decide.ts';
import { TARGET_REFUSALS } from '../../domain/identity/find-user.ts';
import { Timestamp } from '../shared.schemas.ts';
import { adminProcedure, freshAdminProcedure, router } from '../trpc.ts';
import { fromWire, toWire, withBody } from '../wire.ts';

/** Changes of money that wait for a second administrator (spec 01 section 4.8). Not in the contract. */

const Kind = z.enum(['balance_change', 'payment_refund']);
const Status = z.enum(['waiting', 'approved', 'refused', 'withdrawn', 'expired']);

const ApprovalListQuery = z.object({
  status: Status.nullish().describe(
    'Only those in this state: `waiting`, `approved`, `refused`, `withdrawn` (by who asked) or `expired`.',
  ),
  kind: Kind.nullish().describe('Only this kind: `balance_change` or `payment_refund`.'),
  offset: z.int().min(0).default(0).describe('Number of records to skip.'),
  limit: z.int().min(1).max(100).default(50).describe('Greatest number of records in the answer.'),
});

const ApprovalPath = z.object({ approval_id: z.int().describe('Id of the approval.') });

const RefuseApprovalRequest = z
  .object({ reason: z.string().trim().min(1).max(500).describe('Why it is refused, for who asked and for the audit log.') })
  .meta({ id: 'RefuseApprovalRequest', example: { reason: 'The payment was credited already' } });

const ApprovalResponse = z
  .object({
    id: z.int().describe('Id of the approval.'),
    kind: z.string().describe('`balance_change` or `payment_refund`.'),
    status: z.string().describe('`waiting`, `approved` (and carried out), `refused`, `withdrawn` or `expired`.'),
    user_id: z.int().nullable().describe('Whose balance it is; null for the refund of a purchase without an account.'),
    messenger_id: z.int().nullable().describe('Id of that user in the messenger; null without one.'),
    username: z.string().nullable().describe('User name in the messenger, without `@`; null when the user has none.'),
    first_name: z.string().nullable().describe('First name; null when unknown.'),
    email: z.string().nullable().describe('E-mail address; null without one.'),
    payment_id: z.int().nullable().describe('Payment of a refund; null of a change of the balance.'),
    amount_kopeks: z.int().describe('By effect on the user in kopeks; of a refund below 0.'),
    reserved_kopeks: z.int().describe('What of the balance is held until the decision, kopeks; 0 afterwards.'),
    description: z.string().nullable().describe('What the requester said of it; null for nothing.'),
    requested_by: z.string().describe('Who asked: `admin:<user id>`, or `system:command line`.'),
    requester_id: z.int().nullable().describe('User id of the administrator who asked; null for a command.'),
    created_at: Timestamp.describe('When it was asked for (UTC).'),
    expires_at: Timestamp.nullable().describe('Until when it can be approved (UTC).'),
    decided_by: z
      .int()
      .nullable()
      .describe('User id of who decided; null while it waits, for a command and where the time was over.'),
    decided_at: Timestamp.nullable().describe('When it was decided (UTC); null while it waits.'),
    reason: z.string().nullable().describe('Why it was refused; null otherwise.'),
  })
  .meta({ id: 'ApprovalResponse' });

const ApprovalListResponse = z
  .object({
    items: z.array(ApprovalResponse).describe('The records of this page, newest first.'),
    total: z.int().describe('Number of records in all pages.'),
  })
  .meta({ id: 'ApprovalListResponse' });

const BASE = '/cabinet/admin/approvals';
const tags: [string] = ['Cabinet Admin Approvals'];

export const adminApprovalsRouter = router({
  list: adminProcedure('approvals:read')
    .meta({
      openapi: { method: 'GET', path: BASE, tags, summary: 'Changes of money that wait or waited for a second administrator' },
      description:
        'Lists changes of balances and refunds above `APPROVAL_BALANCE_CHANGE_KOPEKS` and `APPROVAL_REFUND_KOPEKS`, newest first. Withdrawals have a second approval of their own.',
    })
    .input(fromWire(ApprovalListQuery))
    .output(toWire(ApprovalListResponse))
    .query(({ ctx, input: { status = null, kind = null, limit, offset } }) =>
      readApprovals(ctx.app, { status, kind, limit, offset }),
    ),

  get: adminProcedure('approvals:read')
    .meta({
      openapi: { method: 'GET', path: `${BASE}/{approval_id}`, tags, summary: 'One of them' },
      description: 'Returns one change of money that waits or waited for a second administrator.',
      refuses: [approvalNotFound],
    })
    .input(fromWire(ApprovalPath))
    .output(toWire(ApprovalResponse))
    .query(({ ctx, input }) => readApproval(ctx.app, input.approvalId)),

  approve: freshAdminProcedure('approvals:decide')
    .meta({
      openapi: { method: 'POST', path: `${BASE}/{approval_id}/approve`, tags, summary: 'Approve a waiting change' },
      description:
        'Approves a waiting change and carries it out at once. Only by an administrator who did not ask for it, whose rights do not come from the one who asked, directly or through others, and who was allowed such a change (`users:balance`, `payments:edit`) already when it was asked for. Emits `approval.decided`, and what the change emits. When the change itself is refused, it goes on waiting.',
      refuses: [
        ...TARGET_REFUSALS,
        approvalDecided,
        approvalExpired,
        approvalImpossible,
        approvalNotFound,
        approvalOfRequester,
        approverDependent,
        approverRightsTooNew,
      ],
    })
    .input(fromWire(ApprovalPath))
    .output(toWire(ApprovalResponse))
    .mutation(({ ctx, input }) => approve(ctx.app, ctx.actor, input.approvalId)),

  refuse: adminProcedure('approvals:decide')
    .meta({
      openapi: { method: 'POST', path: `${BASE}/{approval_id}/refuse`, tags, summary: 'Refuse a waiting change' },
      description:
        'Refuses a waiting change with a reason: nothing is carried out, and what it holds goes back to the balance. Emits `approval.decided`.',
      refuses: [approvalDecided, approvalNotFound],
    })
    .input(fromWire(withBody(ApprovalPath, RefuseApprovalRequest)))
    .output(toWire(ApprovalResponse))
    .mutation(({ ctx, input: { approvalId, reason } }) => refuse(ctx.app, ctx.actor, approvalId, reason)),

  // Only changes of balances are requested by administrators.
  withdraw: adminProcedure('users:balance')
    .meta({
      openapi: { method: 'POST', path: `${BASE}/{approval_id}/withdraw`, tags, summary: 'Take back what the caller asked for' },
      description:
        'Takes back a waiting change that the caller asked for: nothing is carried out, and what it holds goes back to the balance. Emits `approval.decided`.',
      refuses: [approvalDecided, approvalNotFound, approvalOfOthers],
    })
    .input(fromWire(ApprovalPath))
    .output(toWire(ApprovalResponse))
    .mutation(({ ctx, input }) => withdraw(ctx.app, ctx.actor, input.approvalId)),
});
