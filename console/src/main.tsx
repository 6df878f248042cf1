import "./app/mantine";
import "./app/tokens.css";
import "./app/app.css";
import "./components/ui/ui.css";
import { createRoot } from "react-dom/client";
import { App } from "./app/App";
import { getPreferences } from "./app/preferences";
import { styleNonce } from "./app/theme";
import { startWords } from "./lib/i18n";

// Where the scroll lock of dialogs looks for the nonce of its style element.
(globalThis as { __webpack_nonce__?: string }).__webpack_nonce__ = styleNonce();

const root = document.getElementById("root");
if (root) {
  await startWords(getPreferences().language);
  createRoot(root).render(<App />);
}
