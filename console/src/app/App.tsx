import { MantineProvider } from "@mantine/core";
import { QueryClientProvider } from "@tanstack/react-query";
import { RouterProvider } from "@tanstack/react-router";
import { useEffect } from "react";
import { changeWords } from "@/lib/i18n";
import { usePreferences } from "./preferences";
import { router } from "./router";
import { SessionGate } from "./SessionGate";
import { queries } from "./session";
import { cssVariables, styleNonce, theme } from "./theme";

export function App() {
  const { theme: scheme, language, density } = usePreferences();
  useEffect(() => void changeWords(language), [language]);
  useEffect(() => {
    document.documentElement.dataset.density = density;
  }, [density]);
  return (
    <MantineProvider
      theme={theme}
      cssVariablesResolver={cssVariables}
      getStyleNonce={styleNonce}
      {...(scheme === "auto" ? { defaultColorScheme: "auto" as const } : { forceColorScheme: scheme })}
    >
      <QueryClientProvider client={queries}>
        <SessionGate>
          <RouterProvider router={router} />
        </SessionGate>
      </QueryClientProvider>
    </MantineProvider>
  );
}
