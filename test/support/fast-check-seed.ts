import fc from "fast-check";

/*
 * Every run of the suite draws the same cases, so that a change fails for what it changed. FAST_CHECK_SEED=random draws
 * others, and FAST_CHECK_SEED=NUMBER repeats those of a failure: fast-check prints its seed. FAST_CHECK_TIMES=5 draws five times the cases
 * of the properties whose cases take long.
 */

/** How many times the usual number of cases is drawn. */
export const TIMES = Number(process.env["FAST_CHECK_TIMES"] ?? 1);
const SEED = 20_260_101;

const wanted = process.env["FAST_CHECK_SEED"] ?? SEED;
if (wanted !== "random") {
  const seed = Number(wanted);
  if (!Number.isInteger(seed)) {
    throw new Error(
      `Cannot seed fast-check: FAST_CHECK_SEED is neither "random" nor a whole number: ${wanted}`,
    );
  }
  fc.configureGlobal({ ...fc.readConfigureGlobal(), seed });
}
