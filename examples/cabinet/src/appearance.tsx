import { useEffect, useState } from 'react';
import { client } from './service.ts';
import { type Language, useTexts } from './texts.ts';
import { useLoaded } from './use-loaded.ts';

type Theme = 'light' | 'dark';

const THEME_KEY = 'cabinet.theme';

/** The theme of the system until the user chooses another one. */
function firstTheme(): Theme {
  const stored = localStorage.getItem(THEME_KEY);
  if (stored === 'light' || stored === 'dark') return stored;
  return matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light';
}

interface Props {
  language: Language;
  onLanguage: (language: Language) => void;
}

/** Language and theme. The operator can leave one theme only; then there is nothing to choose. */
export function Appearance({ language, onLanguage }: Props) {
  const texts = useTexts();
  const offered = useLoaded(() => client.api.branding.themes.query()).value;
  const [chosen, setChosen] = useState(firstTheme);
  const theme: Theme = offered && !offered[chosen] ? (chosen === 'dark' ? 'light' : 'dark') : chosen;
  const other: Theme = theme === 'dark' ? 'light' : 'dark';

  useEffect(() => {
    document.documentElement.style.colorScheme = theme;
  }, [theme]);

  const choose = () => {
    localStorage.setItem(THEME_KEY, other);
    setChosen(other);
  };

  return (
    <fieldset className="appearance" aria-label={texts.settings}>
      {offered?.[other] && (
        <button type="button" className="quiet" onClick={choose} data-testid="theme">
          {texts.themes[other]}
        </button>
      )}
      <button
        type="button"
        className="quiet"
        lang={language === 'ru' ? 'en' : 'ru'}
        onClick={() => onLanguage(language === 'ru' ? 'en' : 'ru')}
      >
        {language === 'ru' ? 'English' : 'Русский'}
      </button>
    </fieldset>
  );
}
