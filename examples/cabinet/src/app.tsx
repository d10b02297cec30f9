import { useEffect, useState } from 'react';
import { Appearance } from './appearance.tsx';
import { ArrivalScreen, arrivalOf, rememberOrigin } from './arrival.tsx';
import { Branding } from './branding.tsx';
import { Cabinet } from './cabinet.tsx';
import { InfoPages } from './info-pages.tsx';
import { NewPassword } from './password-reset.tsx';
import { addressOf } from './routes.ts';
import { ProofDialog, type SecondPart, secondPartOf } from './second-factor.tsx';
import { client, onSignedOut } from './service.ts';
import { SignIn } from './sign-in.tsx';
import { type Language, LanguageContext } from './texts.ts';

type Screen = 'loading' | 'sign-in' | 'arrival' | 'new-password' | 'cabinet';

const LANGUAGE_KEY = 'cabinet.language';

function firstLanguage(): Language {
  const language = localStorage.getItem(LANGUAGE_KEY) ?? navigator.language;
  return language.startsWith('ru') ? 'ru' : 'en';
}

/** What the address asks for; otherwise the session decides. */
function firstScreen(): Screen {
  rememberOrigin();
  if (arrivalOf(location)) return 'arrival';
  // Payment pages return here.
  if (location.pathname === '/balance/top-up/result') history.replaceState(null, '', `/${addressOf('balance')}`);
  return location.pathname === '/reset-password' ? 'new-password' : 'loading';
}

export function App() {
  const [language, setLanguage] = useState(firstLanguage);
  const [screen, setScreen] = useState(firstScreen);
  const [secondPart, setSecondPart] = useState<SecondPart | null>(null);
  const [arrival] = useState(() => arrivalOf(location));
  const [resetToken] = useState(() => new URLSearchParams(location.search).get('token') ?? '');

  useEffect(() => {
    if (screen === 'loading') {
      void client.session.isSignedIn().then((isSignedIn) => setScreen(isSignedIn ? 'cabinet' : 'sign-in'));
    }
    return onSignedOut(() => setScreen('sign-in'));
  }, [screen]);

  useEffect(() => {
    document.documentElement.lang = language;
    localStorage.setItem(LANGUAGE_KEY, language);
  }, [language]);

  const show = (next: Screen, address = '/') => {
    history.replaceState(null, '', address);
    setScreen(next);
  };

  /** Sentences of the service come in the language of the account. */
  function changeLanguage(next: Language) {
    setLanguage(next);
    // The page works in either language when this fails.
    if (screen === 'cabinet') client.api.info.updateUserLanguage.mutate({ body: { language: next } }).catch(() => undefined);
  }

  return (
    <LanguageContext value={language}>
      <header className="top">
        <Branding />
        <Appearance language={language} onLanguage={changeLanguage} />
      </header>
      {screen === 'sign-in' && <SignIn firstPart={secondPart} onDone={() => show('cabinet', `/${location.hash}`)} />}
      {screen === 'arrival' && arrival && (
        <ArrivalScreen
          arrival={arrival}
          onDone={(mergeToken) => show('cabinet', mergeToken ? `/${addressOf('account', mergeToken)}` : '/')}
          onFailed={() => show('sign-in')}
          onRefused={(error) => {
            const part = secondPartOf(error);
            setSecondPart(part);
            if (part) show('sign-in');
            return part !== null;
          }}
        />
      )}
      {screen === 'new-password' && <NewPassword token={resetToken} onDone={() => show('sign-in')} />}
      {screen === 'cabinet' && <Cabinet onSignOut={() => show('sign-in')} />}
      <ProofDialog />
      <InfoPages />
    </LanguageContext>
  );
}
