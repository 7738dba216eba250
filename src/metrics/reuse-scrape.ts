export interface ReusedScrape<Scrape> {
  readonly make: () => Promise<Scrape>;
  /** Unix milliseconds of the instant that its values belong to. */
  readonly madeAtMs: (scrape: Scrape) => number;
  /** Whether what its values do not tell is as it was; else it is not served again. */
  readonly isCurrent: (scrape: Scrape) => boolean;
  readonly nowMs: () => number;
}

/** A scrape is renewed when it is older, */
const RENEWED_AFTER_MS = 1_000;
/** and until it is renewed it is served at most up to this age. */
const MAX_AGE_MS = 2_000;

/**
 * Serves the latest scrape while the next one is made, so that of many scrapers none waits for it. One that comes after a while
 * gets a new one.
 */
export function reuseScrape<Scrape>(options: ReusedScrape<Scrape>): () => Promise<Scrape> {
  const { make, madeAtMs, isCurrent, nowMs } = options;
  let latest: Scrape | null = null;
  let isRenewing = false;

  async function renew(): Promise<void> {
    isRenewing = true;
    try {
      latest = await make();
    } catch {
      // The next scraper makes one itself, and is told.
      latest = null;
    } finally {
      isRenewing = false;
    }
  }

  return async () => {
    // Its age is negative after the clock was set back.
    const ageMs = latest === null ? 0 : Math.abs(nowMs() - madeAtMs(latest));
    if (latest === null || ageMs >= MAX_AGE_MS || !isCurrent(latest)) {
      latest = await make();
      return latest;
    }
    const served = latest;
    if (ageMs >= RENEWED_AFTER_MS && !isRenewing) {
      void renew();
    }
    return served;
  };
}
