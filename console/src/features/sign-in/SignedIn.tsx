import { Navigate, useSearch } from "@tanstack/react-router";

/** `/sign-in` for who is signed in already: goes on to where they wanted. */
export function SignedIn() {
  const { next } = useSearch({ from: "/sign-in" });
  // Only paths of the console: an address of another site must not follow from a link to us.
  const isOurs = next?.startsWith("/") && !next.startsWith("//");
  return <Navigate to={isOurs ? next : "/"} replace />;
}
