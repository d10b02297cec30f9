import { type ReactNode, useEffect, useState, useSyncExternalStore } from 'react';
import { ApiTokens } from './api-tokens.tsx';
import { Approvals } from './approvals.tsx';
import { Health } from './health.tsx';
import { FeedStatus } from './live-feed.tsx';
import { Overview } from './overview.tsx';
import { ReferralNetwork } from './referral-network.tsx';
import { Runs } from './runs.tsx';
import { Sales } from './sales.tsx';
import { ProofDialog } from './second-factor.tsx';
import { client, includesPermission, onSignedOut, PermissionsContext, sentenceOf } from './service.ts';
import { SignIn } from './sign-in.tsx';
import { type Language, LanguageContext, type Texts, useTexts } from './texts.ts';
import { useLoaded } from './use-loaded.ts';
import { UserPage } from './user-page.tsx';
import { Users } from './users.tsx';

interface View {
  path: string;
  title: (texts: Texts) => string;
  /** With any one of these the view is shown; its panels look at their permissions themselves. */
  permissions: readonly string[];
  /** @param rest what follows the path in the address */
  render: (rest: string) => ReactNode;
}

const VIEWS: readonly View[] = [
  { path: 'overview', title: ({ overview }) => overview, permissions: ['stats:read'], render: () => <Overview /> },
  { path: 'sales', title: ({ sales }) => sales, permissions: ['sales_stats:read'], render: () => <Sales /> },
  {
    path: 'users',
    title: ({ users }) => users,
    permissions: ['users:read'],
    render: (rest) => (/^\d+$/.test(rest) ? <UserPage key={rest} userId={Number(rest)} /> : <Users />),
  },
  { path: 'network', title: ({ network }) => network, permissions: ['stats:read'], render: () => <ReferralNetwork /> },
  { path: 'health', title: ({ health }) => health, permissions: ['stats:read', 'vpnpanel:read'], render: () => <Health /> },
  {
    path: 'runs',
    title: ({ runs }) => runs,
    permissions: ['vpnpanel:read', 'broadcasts:read', 'backups:read'],
    render: () => <Runs />,
  },
  { path: 'approvals', title: ({ approvals }) => approvals, permissions: ['approvals:read'], render: () => <Approvals /> },
  { path: 'api-tokens', title: ({ apiTokens }) => apiTokens, permissions: ['api_tokens:read'], render: () => <ApiTokens /> },
];

const LANGUAGE_KEY = 'dashboard.language';
const THEME_KEY = 'dashboard.theme';

function subscribe(onChange: () => void): () => void {
  addEventListener('hashchange', onChange);
  return () => removeEventListener('hashchange', onChange);
}

/** Also follows a change between the first rendering and the subscription. */
function useAddress(): string {
  return useSyncExternalStore(subscribe, () => location.hash.slice(2));
}

function firstLanguage(): Language {
  const language = localStorage.getItem(LANGUAGE_KEY) ?? navigator.language;
  return language.startsWith('ru') ? 'ru' : 'en';
}

function isDarkAtFirst(): boolean {
  const stored = localStorage.getItem(THEME_KEY);
  return stored === null ? matchMedia('(prefers-color-scheme: dark)').matches : stored === 'dark';
}

export function App() {
  const [language, setLanguage] = useState(firstLanguage);
  const [isDark, setIsDark] = useState(isDarkAtFirst);
  const [isSignedIn, setIsSignedIn] = useState<boolean | null>(null);

  useEffect(() => {
    void client.session.isSignedIn().then(setIsSignedIn);
    return onSignedOut(() => setIsSignedIn(false));
  }, []);
  useEffect(() => {
    document.documentElement.lang = language;
    document.documentElement.style.colorScheme = isDark ? 'dark' : 'light';
  }, [language, isDark]);

  function switchLanguage() {
    const next = language === 'ru' ? 'en' : 'ru';
    localStorage.setItem(LANGUAGE_KEY, next);
    setLanguage(next);
  }
  function switchTheme() {
    localStorage.setItem(THEME_KEY, isDark ? 'light' : 'dark');
    setIsDark(!isDark);
  }
  const settings = <Settings {...{ isDark, switchLanguage, switchTheme }} />;
  return (
    <LanguageContext value={language}>
      {isSignedIn !== true && settings}
      {isSignedIn === false && <SignIn onDone={() => setIsSignedIn(true)} />}
      {isSignedIn === true && <Frame settings={settings} onSignOut={() => setIsSignedIn(false)} />}
      <ProofDialog />
    </LanguageContext>
  );
}

function Settings(props: { isDark: boolean; switchLanguage: () => void; switchTheme: () => void }) {
  const texts = useTexts();
  return (
    <div className="settings">
      <button type="button" onClick={props.switchTheme}>
        {props.isDark ? texts.lightTheme : texts.darkTheme}
      </button>
      <button type="button" onClick={props.switchLanguage}>
        {texts.language}
      </button>
    </div>
  );
}

/** Navigation and the view of the address, as far as the permissions of the administrator allow. */
function Frame({ settings, onSignOut }: { settings: ReactNode; onSignOut: () => void }) {
  const texts = useTexts();
  const address = useAddress();
  const access = useLoaded(() => client.api.auth.permissions.query());
  const me = useLoaded(() => client.api.auth.me.query());
  const permissions = access.value?.permissions ?? [];
  const views = VIEWS.filter((view) => view.permissions.some((permission) => includesPermission(permissions, permission)));
  const [path = '', rest = ''] = address.split('/');
  const view = views.find((one) => one.path === path) ?? (path === '' ? views[0] : undefined);
  const title = view?.title(texts);

  useEffect(() => {
    document.title = title === undefined ? texts.title : `${title} · ${texts.title}`;
  }, [title, texts]);

  async function signOut() {
    client.close();
    await client.session.signOut();
    location.hash = '';
    onSignOut();
  }

  return (
    <PermissionsContext value={permissions}>
      <button type="button" className="skip" onClick={() => document.getElementById('content')?.focus()}>
        {texts.toContent}
      </button>
      <header className="top">
        <strong>{texts.title}</strong>
        <FeedStatus />
        <span className="soft">{me.value?.email ?? me.value?.username ?? ''}</span>
        {settings}
        <button type="button" onClick={signOut}>
          {texts.signOut}
        </button>
      </header>
      <nav aria-label={texts.sections}>
        {views.map((one) => (
          <a key={one.path} href={`#/${one.path}`} aria-current={one === view ? 'page' : undefined}>
            {one.title(texts)}
          </a>
        ))}
      </nav>
      <main id="content" tabIndex={-1}>
        {access.error !== null && (
          <p className="problem" role="alert">
            {sentenceOf(access.error, texts.denied)}{' '}
            <button type="button" onClick={access.reload}>
              {texts.again}
            </button>
          </p>
        )}
        {access.value !== null && (
          <>
            <h1>{title ?? texts.title}</h1>
            {view ? view.render(rest) : <p data-testid="denied">{views.length === 0 ? texts.noAdministrator : texts.denied}</p>}
          </>
        )}
      </main>
    </PermissionsContext>
  );
}
