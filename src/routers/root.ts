import { adminServersRouter } from './admin/servers.router.ts';
import { adminTariffsRouter } from './admin/tariffs.router.ts';
import { cabinetAuthRouter } from './cabinet/auth.router.ts';
import { balanceRouter } from './cabinet/balance.router.ts';
import { subscriptionRouter } from './cabinet/subscription.router.ts';
import { subscriptionPurchaseRouter } from './cabinet/subscription-purchase.router.ts';
import { router } from './trpc.ts';
import { authRouter } from './web/auth.router.ts';
import { healthRouter } from './web/health.router.ts';
import { notificationsRouter } from './web/notifications.router.ts';
import { serversRouter } from './web/servers.router.ts';
import { subscriptionsRouter } from './web/subscriptions.router.ts';
import { transactionsRouter } from './web/transactions.router.ts';
import { usersRouter } from './web/users.router.ts';
import { webhooksRouter } from './web/webhooks.router.ts';

/** All operations, by area and tag group. Eager and static: a lazy router would be missing in REST and in the document. */
export const appRouter = router({
  web: router({
    health: healthRouter,
    auth: authRouter,
    users: usersRouter,
    transactions: transactionsRouter,
    subscriptions: subscriptionsRouter,
    servers: serversRouter,
    notifications: notificationsRouter,
    webhooks: webhooksRouter,
  }),
  cabinet: router({
    auth: cabinetAuthRouter,
    balance: balanceRouter,
    subscription: subscriptionRouter,
    purchase: subscriptionPurchaseRouter,
  }),
  admin: router({
    tariffs: adminTariffsRouter,
    servers: adminServersRouter,
  }),
});

export type AppRouter = typeof appRouter;
