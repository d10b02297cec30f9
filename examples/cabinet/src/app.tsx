import { useEffect, useState } from 'react';
import { Branding } from './branding.tsx';
import { Dashboard } from './dashboard.tsx';
import { InfoPages } from './info-pages.tsx';
import { ProofDialog } from './second-factor.tsx';
import { client, onSignedOut } from './service.ts';
import { SignIn } from './sign-in.tsx';
import { type Language, LanguageContext } from './texts.ts';
import { VerifyEmail } from './verify-email.tsx';

type Screen = 'loading' | 'sign-in' | 'verify' | 'dashboard';

const LANGUAGE_KEY = 'cabinet.language';

function firstLanguage(): Language {
  return localStorage.getItem(LANGUAGE_KEY) === 'en' ? 'en' : 'ru';
}

export function App() {
  const [language, setLanguage] = useState(firstLanguage);
  const [screen, setScreen] = useState<Screen>('loading');

  useEffect(() => {
    if (location.pathname === '/verify-email') setScreen('verify');
    else void client.session.isSignedIn().then((isSignedIn) => setScreen(isSignedIn ? 'dashboard' : 'sign-in'));
    return onSignedOut(() => setScreen('sign-in'));
  }, []);

  useEffect(() => {
    document.documentElement.lang = language;
    localStorage.setItem(LANGUAGE_KEY, language);
  }, [language]);

  const show = (next: Screen) => {
    history.replaceState(null, '', '/');
    setScreen(next);
  };

  return (
    <LanguageContext value={language}>
      <Branding />
      <button type="button" className="language" onClick={() => setLanguage(language === 'ru' ? 'en' : 'ru')}>
        {language === 'ru' ? 'English' : 'Русский'}
      </button>
      {screen === 'sign-in' && <SignIn onDone={() => show('dashboard')} />}
      {screen === 'verify' && <VerifyEmail onDone={() => show('dashboard')} onFailed={() => show('sign-in')} />}
      {screen === 'dashboard' && <Dashboard onSignOut={() => show('sign-in')} />}
      <ProofDialog />
      <InfoPages />
    </LanguageContext>
  );
}
