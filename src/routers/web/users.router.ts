import { rublesOf } from '../../core/money.ts';
import { adjustBalanceByToken, approvalRequired } from '../../domain/approvals/request-approval.ts';
import { serverNotFound } from '../../domain/catalog/servers.ts';
import { userNotFound } from '../../domain/identity/errors.ts';
import { durationRequired } from '../../domain/subscriptions/web-subscriptions.ts';
import { amountTooLarge, amountZero, insufficientBalance } from '../../domain/users/account/change-balance.ts';
import {
  giveSubscription,
  noSubscription,
  subscriptionExists,
  withdrawSubscription,
} from '../../domain/users/account/give-subscription.ts';
import { readUser, readUserByMessengerId } from '../../domain/users/account/read-user.ts';
import {
  codeTaken,
  invalidStatus,
  promoGroupNotFound,
  referrerNotFound,
  registerUser,
  updateUser,
  userExists,
} from '../../domain/users/account/save-user.ts';
import { listUsers } from '../../domain/users/list/list-users.ts';
import type { UserView } from '../../domain/users/types.ts';
import { auditedWebProcedure, router, webProcedure } from '../trpc.ts';
import { fromWire, toWire, withBody } from '../wire.ts';
import {
  BalanceUpdateRequest,
  MessengerIdPath,
  UserCreateRequest,
  UserListQuery,
  UserListResponse,
  UserPath,
  UserResponse,
  UserSubscriptionCreateRequest,
  UserUpdateRequest,
} from './users.schemas.ts';

const tags: [string] = ['users'];

const withRubles = (user: UserView) => ({ ...user, balanceRubles: rublesOf(user.balanceKopeks) });

export const usersRouter = router({
  list: webProcedure
    .meta({
      openapi: { method: 'GET', path: '/users', tags, summary: 'List and search users, newest first' },
      description:
        'Lists users, newest first, filtered by status, primary promo group and text. Pages are given by `limit` and `offset` or by `page` and `per_page`.',
    })
    .input(fromWire(UserListQuery))
    .output(toWire(UserListResponse))
    .query(async ({ ctx, input }) => {
      const { users, ...page } = await listUsers(ctx.app, input);
      return { items: users.map(withRubles), ...page };
    }),

  create: auditedWebProcedure('users:create')
    .meta({
      openapi: { method: 'POST', path: '/users', tags, summary: 'Create a user' },
      description:
        'Creates a user with a referral code in the default promo group, or the given one. A messenger id can belong to one user only. Emits `user.created`.',
      refuses: [promoGroupNotFound, referrerNotFound, userExists],
    })
    .input(fromWire(UserCreateRequest))
    .output(toWire(UserResponse))
    .mutation(async ({ ctx, input }) => withRubles(await registerUser(ctx.app, ctx.actor, input))),

  get: webProcedure
    .meta({
      openapi: { method: 'GET', path: '/users/{user_id}', tags, summary: 'One user by messenger id, else by internal id' },
      description:
        'Returns a user with the subscription and the primary promo group. The number is looked up as messenger id first, then as internal id.',
      refuses: [userNotFound],
    })
    .input(fromWire(UserPath))
    .output(toWire(UserResponse))
    .query(async ({ ctx, input }) => withRubles(await readUser(ctx.app, input.userId))),

  update: auditedWebProcedure('users:edit')
    .meta({
      openapi: {
        method: 'PATCH',
        path: '/users/{user_id}',
        tags,
        summary: 'Change a user; absent and null fields do not change',
      },
      description:
        'Changes fields of a user; absent or null fields are not changed. A change of status applies to the cabinet immediately; a promo group becomes the only manually assigned one.',
      refuses: [invalidStatus, promoGroupNotFound, codeTaken, userNotFound],
    })
    .input(fromWire(withBody(UserPath, UserUpdateRequest)))
    .output(toWire(UserResponse))
    .mutation(async ({ ctx, input: { userId, ...changes } }) =>
      withRubles(await updateUser(ctx.app, ctx.actor, userId, changes)),
    ),

  getByMessengerId: webProcedure
    .meta({
      openapi: { method: 'GET', path: '/users/by-messenger-id/{messenger_id}', tags, summary: 'One user by messenger id' },
      description: 'Returns the user with this messenger id, with the subscription and the primary promo group.',
      refuses: [userNotFound],
    })
    .input(fromWire(MessengerIdPath))
    .output(toWire(UserResponse))
    .query(async ({ ctx, input }) => withRubles(await readUserByMessengerId(ctx.app, input.messengerId))),

  adjustBalance: auditedWebProcedure('users:balance')
    .meta({
      openapi: { method: 'POST', path: '/users/{user_id}/balance', tags, summary: 'Add to a balance or deduct from it' },
      description:
        'Adds to the balance of a user, or takes from it when the amount is negative; the balance cannot become negative. Records a movement of type `deposit` or `withdrawal` unless `create_transaction` is false, and emits `payment.completed` or `transaction.created`. Refused above `APPROVAL_BALANCE_CHANGE_KOPEKS`, alone or with the other changes of the token within a day. Accepts `Idempotency-Key`.',
      refuses: [amountTooLarge, amountZero, approvalRequired, insufficientBalance, userNotFound],
      idempotent: true,
      scopeGroup: 'balance',
    })
    .input(fromWire(withBody(UserPath, BalanceUpdateRequest)))
    .output(toWire(UserResponse))
    .mutation(async ({ ctx, input: { userId: user, amountKopeks, description, createTransaction: isShown } }) => {
      const adjustment = { user, amountKopeks, description, isShown };
      return withRubles(await adjustBalanceByToken(ctx.app, ctx.actor, adjustment, ctx.idempotencyKey));
    }),

  giveSubscription: auditedWebProcedure('users:subscription')
    .meta({
      openapi: {
        method: 'POST',
        path: '/users/{user_id}/subscription',
        tags,
        summary: 'Give a user a subscription without charging',
      },
      description:
        'Gives a user a subscription without charging. An existing one is refused, or overwritten with `replace_existing`. The user is created or changed in the panel afterwards.',
      refuses: [durationRequired, subscriptionExists, serverNotFound, userNotFound],
    })
    .input(fromWire(withBody(UserPath, UserSubscriptionCreateRequest)))
    .output(toWire(UserResponse))
    .mutation(async ({ ctx, input: { userId, ...request } }) =>
      withRubles(await giveSubscription(ctx.app, ctx.actor, userId, request)),
    ),

  withdrawSubscription: auditedWebProcedure('users:subscription')
    .meta({
      openapi: {
        method: 'DELETE',
        path: '/users/{user_id}/subscription',
        tags,
        summary: "Disable a user's subscription; it is retained",
      },
      description:
        'Disables the subscription of a user: the status becomes `disabled`, the row remains. The user is disabled in the panel afterwards. Nothing is refunded.',
      refuses: [noSubscription, userNotFound],
    })
    .input(fromWire(UserPath))
    .output(toWire(UserResponse))
    .mutation(async ({ ctx, input }) => withRubles(await withdrawSubscription(ctx.app, ctx.actor, input.userId))),
});
