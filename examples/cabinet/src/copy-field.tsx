import { useState } from 'react';
import { useTexts } from './texts.ts';

/** A text to copy, which a screen reader hears together with its label. */
export function CopyField({ label, value, testId }: { label: string; value: string; testId: string }) {
  const texts = useTexts();
  const [isCopied, setIsCopied] = useState(false);
  const copy = () => navigator.clipboard.writeText(value).then(() => setIsCopied(true));
  return (
    <div className="link">
      <span className="soft">{label}</span>
      <code data-testid={testId}>{value}</code>
      <button type="button" className="plain" onClick={copy}>
        <span aria-live="polite">{isCopied ? texts.copied : texts.copy}</span>
        <span className="hidden"> {label}</span>
      </button>
    </div>
  );
}
