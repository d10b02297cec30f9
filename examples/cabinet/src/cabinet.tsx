import { type ComponentType, useEffect, useRef, useState } from 'react';
import { AccountView } from './account.tsx';
import { AccountProvider, useAccount } from './account-state.tsx';
import { BalanceView } from './balance.tsx';
import { Contests } from './contests.tsx';
import { Devices } from './devices.tsx';
import { Gifts } from './gifts.tsx';
import { MyData } from './my-data.tsx';
import { Notifications } from './notifications.tsx';
import { Overview } from './overview.tsx';
import { Polls } from './polls.tsx';
import { Purchase } from './purchase.tsx';
import { Referral } from './referral.tsx';
import { Renewal } from './renewal.tsx';
import { addressOf, useRoute, VIEWS, type View } from './routes.ts';
import { Servers } from './servers.tsx';
import { client } from './service.ts';
import { useTexts } from './texts.ts';
import { Tickets } from './tickets.tsx';
import { Traffic } from './traffic.tsx';
import { addressOfUnknown, forgetOutcomes } from './unknown-outcomes.ts';
import { Wheel } from './wheel.tsx';

const COMPONENTS: Record<View, ComponentType<{ argument: string | null }>> = {
  overview: Overview,
  tariffs: Purchase,
  renewal: Renewal,
  devices: Devices,
  servers: Servers,
  traffic: Traffic,
  balance: BalanceView,
  gifts: Gifts,
  wheel: Wheel,
  polls: Polls,
  contests: Contests,
  referral: Referral,
  tickets: Tickets,
  notifications: Notifications,
  account: AccountView,
  'my-data': MyData,
};

/** What a signed-in user sees: navigation, what has just happened, and one view. */
export function Cabinet({ onSignOut }: { onSignOut: () => void }) {
  return (
    <AccountProvider>
      <Frame onSignOut={onSignOut} />
    </AccountProvider>
  );
}

function Frame({ onSignOut }: { onSignOut: () => void }) {
  const texts = useTexts();
  const { view, argument } = useRoute();
  const { me, isLive, notices, views } = useAccount();
  const heading = useRef<HTMLHeadingElement>(null);
  const isFirst = useRef(true);
  const ViewComponent = COMPONENTS[view];

  // Screen readers and the keyboard go on at the new view. Not at the first one, where the page itself is announced.
  // biome-ignore lint/correctness/useExhaustiveDependencies: a change of the view is what is announced
  useEffect(() => {
    if (!isFirst.current) heading.current?.focus();
    isFirst.current = false;
    scrollTo(0, 0);
  }, [view]);

  async function signOut() {
    client.live.close();
    await client.session.signOut();
    forgetOutcomes();
    onSignOut();
  }

  return (
    <div className="frame">
      <Navigation view={view} views={views} />
      <main>
        <header className="bar">
          <div>
            <h1 ref={heading} tabIndex={-1}>
              {texts.views[view]}
            </h1>
            <p className="soft">
              {me.value?.email ?? me.value?.username ?? me.value?.first_name ?? ''}{' '}
              <span className={isLive ? 'live' : 'live away'} data-testid="live">
                {isLive ? texts.live : texts.offline}
              </span>
            </p>
          </div>
          <button type="button" className="plain" onClick={signOut}>
            {texts.signOut}
          </button>
        </header>
        <div className="news" aria-live="polite" data-testid="news">
          {notices.map(({ id, text }) => (
            <p key={id}>{text}</p>
          ))}
        </div>
        <UnknownOutcomeHint />
        <ViewComponent argument={argument} />
      </main>
    </div>
  );
}

/** Leads to a call without an answer, which was sent in another view, before the page was loaded again. */
function UnknownOutcomeHint() {
  const texts = useTexts();
  const address = addressOfUnknown();
  if (address === null || address === location.hash) return null;
  return (
    <p className="problem" role="status" data-testid="unknown-outcome">
      {texts.unknownOutcome} <a href={address}>{texts.openUnknown}</a>
    </p>
  );
}

/** A list beside the view; on a telephone a button opens it. */
function Navigation({ view, views }: { view: View; views: ReadonlySet<View> }) {
  const texts = useTexts();
  const [isOpen, setIsOpen] = useState(false);
  return (
    <nav className="views" aria-label={texts.navigation}>
      <button
        type="button"
        className="plain menu"
        aria-expanded={isOpen}
        aria-controls="views"
        onClick={() => setIsOpen(!isOpen)}
        data-testid="menu"
      >
        {texts.menu}
      </button>
      <ul id="views" className={isOpen ? 'open' : ''}>
        {VIEWS.filter((name) => views.has(name)).map((name) => (
          <li key={name}>
            <a href={addressOf(name)} aria-current={name === view ? 'page' : undefined} onClick={() => setIsOpen(false)}>
              {texts.views[name]}
            </a>
          </li>
        ))}
      </ul>
    </nav>
  );
}
