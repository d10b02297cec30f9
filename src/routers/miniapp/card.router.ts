import { readMiniappPages } from '../../domain/content/service-info.ts';
import { listMyTransactions } from '../../domain/ledger/transactions.ts';
import { listMiniappOffers } from '../../domain/promo/offers/claim-offer.ts';
import { readLoyalty } from '../../domain/promo-groups/promo-groups.ts';
import { readMiniappReferral } from '../../domain/referrals/my-referrals.ts';
import { readMiniappCard } from '../../domain/subscriptions/miniapp/card.ts';
import { miniappProcedure, router } from '../trpc.ts';
import { toWire } from '../wire.ts';
import { asMiniappCaller } from './as-miniapp-user.ts';
import { MiniAppSubscriptionResponse } from './card.schemas.ts';
import { toCard } from './card-wire.ts';
import { toAutopay } from './subscription-wire.ts';
import { toCurrentTariff } from './tariff-wire.ts';
import { MiniAppSubscriptionRequest } from './tariffs.schemas.ts';

const TRANSACTIONS = { page: 1, perPage: 10, type: null };

/** The parts that have wire names already. */
const NAMED = {
  autopay_enabled: true,
  autopay_days_before: true,
  autopay_days_options: true,
  autopay: true,
  autopay_settings: true,
  autopayEnabled: true,
  autopayDaysBefore: true,
  autopayDaysOptions: true,
  daysBefore: true,
  daysOptions: true,
  autopaySettings: true,
  currentTariff: true,
} as const;
const Card = toWire(MiniAppSubscriptionResponse.omit(NAMED));

export const miniappCardRouter = router({
  subscription: miniappProcedure
    .meta({
      openapi: {
        method: 'POST',
        path: '/miniapp/subscription',
        tags: ['miniapp'],
        summary: 'The own subscription with everything that the first page shows',
      },
      description:
        'Returns the own subscription with links, devices, tariff, balance, movements, offers, promo groups and referrals: everything that the first page shows. Used traffic is read from the panel.',
    })
    .input(MiniAppSubscriptionRequest)
    .use(asMiniappCaller({ explains: true }))
    .output(MiniAppSubscriptionResponse)
    .mutation(async ({ ctx }) => {
      const { app, actor } = ctx;
      const [card, { items: transactions }, offers, loyalty, referral] = await Promise.all([
        readMiniappCard(app, actor),
        listMyTransactions(app, actor.userId, TRANSACTIONS),
        listMiniappOffers(app, actor),
        readLoyalty(app, actor),
        readMiniappReferral(app, actor),
      ]);
      const { subscription, currentTariff, buyer } = card;
      const pages = await readMiniappPages(app, buyer.language);
      const wording = { language: buyer.language, rounds: app.settings.get('PRICE_ROUNDING_ENABLED') };
      return {
        ...Card.parse(toCard(app, { card, transactions, offers, loyalty, referral, pages })),
        ...toAutopay(app, subscription),
        currentTariff: currentTariff && toCurrentTariff(currentTariff, wording),
      };
    }),
});
