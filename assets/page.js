// Keeps an open page current: fetches it every 5 s while it is visible and replaces the main element, but keeps scroll
// positions, focus, opened details, plots and selected text. On pages with a filter, filters while the user types. Shows when
// Synclag does not respond, and the local time as the hover text of each time. The page is complete without this script.
const INTERVAL_MS = 5_000;
const TIMEOUT_MS = 4_000;
/** A page older than this is not called live. */
const OLD_MS = 3 * INTERVAL_MS;
/** Parts of the page that scroll by themselves. */
const SCROLLING = ".box[id], .keys[id]";

const main = find(document, "main");
const localTime = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "long" });
const live = find(document, "#live");
const announcement = find(document, "#announcement");
const box = /** @type {HTMLInputElement} */ (find(document, "#q"));
const isFiltered = box.form?.action === location.origin + location.pathname;
let running = false;
/** When the page was last refreshed. */
let refreshedMs = Date.now();
let shown = location.href;
let unfolded = unfoldedIn(main);

/**
 * @param {ParentNode} parent
 * @param {string} selector
 * @returns {HTMLElement}
 */
function find(parent, selector) {
  const found = parent.querySelector(selector);
  if (!(found instanceof HTMLElement)) {
    throw new Error(`No ${selector} on this page`);
  }
  return found;
}

async function refresh() {
  if (running) {
    return;
  }
  running = true;
  if (Date.now() - refreshedMs > OLD_MS) {
    // The page was hidden for long, or the machine slept.
    warnOfAge("Not current yet");
  }
  const wanted = location.href;
  let trouble = "does not respond";
  try {
    const reply = await fetch(wanted, { signal: AbortSignal.timeout(TIMEOUT_MS) });
    if (!reply.ok) {
      // For example 404 for a chain that is no longer in chains.yaml.
      trouble = `replies ${reply.status} ${reply.statusText}`.trim();
      throw new Error(trouble);
    }
    const page = new DOMParser().parseFromString(await reply.text(), "text/html");
    live.textContent = "live";
    refreshedMs = Date.now();
    document.documentElement.classList.remove("offline");
    if (filesOf(page) !== filesOf(document)) {
      // Another version of Synclag replied.
      location.reload();
    }
    if (wanted !== shown || getSelection()?.isCollapsed !== false) {
      swap(page, wanted === shown);
    }
    shown = wanted;
  } catch {
    warnOfAge(`Synclag ${trouble}`);
  }
  running = false;
  if (wanted !== location.href) {
    await refresh();
  }
}

/** @param {string} why */
function warnOfAge(why) {
  document.documentElement.classList.add("offline");
  live.textContent = `${why}; last update ${find(main, "#asof").textContent}`;
}

/** @param {Document} page */
function filesOf(page) {
  const files = [...page.querySelectorAll("link[rel=stylesheet],script[src]")];
  return files.map((one) => one.getAttribute("href") ?? one.getAttribute("src")).join();
}

/**
 * The ids of the `details` elements that the server sends unfolded, such as the testnets if the filter matches only testnets.
 * @param {Element} parent
 */
function unfoldedIn(parent) {
  return new Set([...parent.querySelectorAll("details[id][open]")].map(({ id }) => id));
}

/**
 * @param {Document} page
 * @param {boolean} isRenewed whether the URL is the same as before; nothing is folded then, because somebody may be reading it
 */
function swap(page, isRenewed) {
  const next = find(page, "main");
  const details = /** @type {NodeListOf<HTMLDetailsElement>} */ (main.querySelectorAll("details[id]"));
  const open = new Map([...details].map((one) => [one.id, one.open]));
  const scrolled = new Map(
    [...main.querySelectorAll(SCROLLING)].map((one) => [
      one.id,
      { left: one.scrollLeft, top: one.scrollTop },
    ]),
  );
  const kept = [...main.querySelectorAll("[data-keep]")];
  const focused = main.contains(document.activeElement) ? document.activeElement : null;
  const unfoldedNow = unfoldedIn(next);
  for (const one of /** @type {typeof details} */ (next.querySelectorAll("details[id]"))) {
    if (unfolded.has(one.id) === unfoldedNow.has(one.id) || (isRenewed && !one.open)) {
      one.open = open.get(one.id) ?? one.open;
    }
  }
  unfolded = unfoldedNow;
  main.replaceChildren(...next.childNodes);
  for (const one of kept) {
    document.getElementById(one.id)?.replaceWith(one);
  }
  for (const one of main.querySelectorAll(SCROLLING)) {
    one.scrollTo(scrolled.get(one.id) ?? {});
  }
  if (focused instanceof HTMLElement && main.contains(focused)) {
    // The focused element was kept, but loses the focus when it is moved.
    focused.focus({ preventScroll: true });
  } else if (focused !== null) {
    focusLike(focused);
  }
  nameLocalTimes();
  document.title = page.title;
  const icon = "link[rel=icon]";
  document.querySelector(icon)?.replaceWith(...page.querySelectorAll(icon));
  const sentence = find(main, "h1").lastChild?.textContent?.trim() ?? "";
  if (announcement.textContent !== sentence) {
    announcement.textContent = sentence;
  }
}

/** Unfolds the element that the fragment of the URL names, if the browser does not. */
function unfoldTarget() {
  const target = document.getElementById(location.hash.slice(1));
  const fold = target?.closest("details");
  if (fold?.open === false) {
    fold.open = true;
    target?.scrollIntoView();
  }
}

function nameLocalTimes() {
  for (const one of main.querySelectorAll("time")) {
    const local = localTime.format(new Date(one.dateTime));
    one.title = one.title === "" ? local : `${one.title}, ${local}`;
  }
}

/** @param {Element} former */
function focusLike(former) {
  const identityOf = (/** @type {Element} */ one) =>
    [one.tagName, one.getAttribute("href") ?? one.getAttribute("title"), one.closest("[id]")?.id].join();
  const candidates = /** @type {NodeListOf<HTMLElement>} */ (main.querySelectorAll("a,summary,[tabindex]"));
  [...candidates].find((one) => identityOf(one) === identityOf(former))?.focus({ preventScroll: true });
}

function refreshVisible() {
  if (!document.hidden) {
    void refresh();
  }
}

box.addEventListener("input", () => {
  if (isFiltered) {
    const search = new URLSearchParams(location.search);
    search.set("q", box.value);
    if (box.value === "") {
      search.delete("q");
    }
    history.replaceState(null, "", `${location.pathname}${search.size === 0 ? "" : "?"}${search}`);
    void refresh();
  }
});
box.form?.addEventListener("submit", (event) => {
  if (isFiltered) {
    event.preventDefault();
  }
});
document.addEventListener("visibilitychange", refreshVisible);
setInterval(refreshVisible, INTERVAL_MS);
addEventListener("hashchange", unfoldTarget);
live.textContent = "live";
nameLocalTimes();
unfoldTarget();
