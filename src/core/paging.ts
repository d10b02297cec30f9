/** Number of pages for `total` rows; an empty list has one page. */
export function pageCount(total: number, perPage: number): number {
  return Math.max(1, Math.ceil(total / perPage));
}

/** Rows to skip for a page; pages count from 1. */
export function offsetOf(page: number, perPage: number): number {
  return (page - 1) * perPage;
}
