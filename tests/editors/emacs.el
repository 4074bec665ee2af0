(with-eval-after-load 'eglot
  (add-to-list 'eglot-server-programs
               '((yaml-mode yaml-ts-mode json-mode js-json-mode json-ts-mode) . ("loop-ls" "serve"))))
(add-hook 'yaml-mode-hook #'eglot-ensure)

;; eglot draws no lenses: M-x loop-ls-run runs the workflow of the buffer
(defun loop-ls-run ()
  (interactive)
  (eglot-execute-command (eglot-current-server) 'loopLs.run (vector (list :uri (eglot--path-to-uri buffer-file-name)))))
