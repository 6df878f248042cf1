import { Combobox, InputBase, useCombobox } from "@mantine/core";
import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { useTranslation } from "react-i18next";
import { namespaceTree } from "./namespaces";
import { useNamespace } from "./useNamespace";
import { useNamespaces } from "./useNamespaces";

const ALL = "";

/** Chooses the namespace of all pages; stays on the page. */
export function NamespaceSwitcher() {
  const { t } = useTranslation();
  const navigate = useNavigate();
  const ns = useNamespace();
  const [search, setSearch] = useState("");
  const combobox = useCombobox({
    onDropdownClose: () => {
      combobox.resetSelectedOption();
      setSearch("");
    },
    onDropdownOpen: () => combobox.focusSearchInput(),
  });
  const namespaces = useNamespaces(combobox.dropdownOpened);
  const known = [...(namespaces.data?.items.map((item) => item.path) ?? []), ...(ns ? [ns] : [])];
  const tree = namespaceTree(known).filter((item) => item.path.includes(search.trim()));
  const choose = (value: string) => {
    combobox.closeDropdown();
    void navigate({ to: ".", search: (before) => ({ ...before, ns: value === ALL ? undefined : value }) });
  };
  return (
    <Combobox store={combobox} onOptionSubmit={choose} width={280} position="bottom-start">
      <Combobox.Target>
        <InputBase
          component="button"
          type="button"
          size="xs"
          pointer
          className="ms-namespace"
          aria-label={`${t("nav.namespace")}: ${ns ?? t("nav.all_namespaces")}`}
          rightSection={<Combobox.Chevron />}
          rightSectionPointerEvents="none"
          onClick={() => combobox.toggleDropdown()}
        >
          {ns ?? t("nav.all_namespaces")}
        </InputBase>
      </Combobox.Target>
      <Combobox.Dropdown>
        <Combobox.Search
          value={search}
          aria-label={t("nav.find_namespace")}
          placeholder={t("nav.find_namespace")}
          onChange={(event) => setSearch(event.currentTarget.value)}
        />
        <Combobox.Options mah={320} className="ms-scroll">
          {search === "" && <Combobox.Option value={ALL}>{t("nav.all_namespaces")}</Combobox.Option>}
          {tree.map((item) => (
            <Combobox.Option
              key={item.path}
              value={item.path}
              style={{ paddingInlineStart: 12 + item.depth * 16 }}
            >
              {search ? item.path : item.name}
            </Combobox.Option>
          ))}
          {namespaces.isError && <Combobox.Empty>{t("face.not_loaded")}</Combobox.Empty>}
        </Combobox.Options>
      </Combobox.Dropdown>
    </Combobox>
  );
}
