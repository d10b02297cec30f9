import { useAccount } from './account-state.tsx';
import { BalanceCard } from './balance-card.tsx';
import { PendingOffers } from './pending-offers.tsx';
import { SubscriptionCard } from './subscription-card.tsx';
import { TrialCard } from './trial-card.tsx';

/** Balance and subscription: the calls are sent in one request, and live events update them. */
export function Overview() {
  const { balance, subscription } = useAccount();
  return (
    <>
      <div className="columns">
        <BalanceCard balanceKopeks={balance.value?.balance_kopeks ?? null} error={balance.error} />
        <SubscriptionCard status={subscription.value} error={subscription.error} />
      </div>
      {subscription.value && !subscription.value.has_subscription && <TrialCard />}
      <PendingOffers />
    </>
  );
}
