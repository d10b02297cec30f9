import { useTexts } from './texts.ts';

/** Nothing for a single page. */
export function Pager({ page, pages, onPage }: { page: number; pages: number; onPage: (page: number) => void }) {
  const texts = useTexts();
  if (pages <= 1) return null;
  return (
    <p className="pager">
      <button type="button" className="plain" disabled={page <= 1} onClick={() => onPage(page - 1)}>
        {texts.previous}
      </button>
      <span className="soft">
        {page} / {pages}
      </span>
      <button type="button" className="plain" disabled={page >= pages} onClick={() => onPage(page + 1)}>
        {texts.next}
      </button>
    </p>
  );
}
